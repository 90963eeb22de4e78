import { spawnSync } from 'node:child_process'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { cpuSeconds } from './cpu-time.ts'
import { END_LINE, endLine } from './end-line.ts'
import { timesOf } from './times.ts'

const test = suite('times of test files')

test('are listed longest first, with their sums', () => {
  const brief = { file: 'test/brief.test.ts', seconds: 0.25, cpu: 0.2 }
  const long = { file: 'test/long.test.ts', seconds: 10, cpu: 1.5 }
  assert.equal(timesOf([brief, long]), [
    '  seconds   CPU s',
    '     10.0     1.5  test/long.test.ts',
    '      0.3     0.2  test/brief.test.ts',
    '     10.3     1.7  all of them',
  ])
})

test('include on Linux the processes that a file started', () => {
  const before = cpuSeconds()
  const spins = `while (process.cpuUsage().user < ${SPIN_SECONDS} * 1e6);`
  assert.is(spawnSync(process.execPath, ['-e', spins]).status, 0)
  if (process.platform === 'linux') assert.ok(cpuSeconds() - before >= SPIN_SECONDS)
})

/** Seconds: many clock ticks, and still a short test. */
const SPIN_SECONDS = 0.2

test('reach the runner in the line that ends each file', () => {
  assert.equal(END_LINE.exec(`all well${endLine('test/long.test.ts', 0, 1.5)}`)?.slice(1), [
    'test/long.test.ts',
    '0',
    '1.50',
  ])
})

test.run()
