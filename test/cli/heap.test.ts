import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FROM_SOURCE } from '../from-source.ts'

const test = suite('what V8 is told')

/** Makes a gigabyte of garbage beside what it keeps, as the service does, and prints the bytes of the young generation. */
const WORK = `
  import { growModestly } from './heap.ts'
  import { getHeapSpaceStatistics } from 'node:v8'
  growModestly()
  const kept = []
  for (let round = 0; round < 200; round++) {
    for (let i = 0; i < 40_000; i++) if (kept.push({ round, list: [i] }) > 200_000) kept.length = 0
    await new Promise((done) => setImmediate(done))
  }
  console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size)`

test('is understood by this Node, and keeps the young generation small where V8 alone lets it grow to 128 MB', async () => {
  const cwd = fileURLToPath(new URL('../../src/cli', import.meta.url))
  const words = [...FROM_SOURCE, '--input-type=module', '--eval', WORK]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, words, { cwd })
  assert.is(stderr, '')
  assert.ok(Number(stdout) > 0 && Number(stdout) <= 40 * 1024 * 1024, `${stdout.trim()} bytes`)
})

test.run()
