import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger } from '../../src/runtime/logger.ts'

const test = suite('the logger of a process')

const module = fileURLToPath(new URL('../../src/runtime/logger.ts', import.meta.url))

/** The lines on stderr of a process that logs two lines and then runs `end`. */
function linesBeforeExit(end: string): string[] {
  const script = `const { createLogger } = await import(${JSON.stringify(module)})
    const log = createLogger('info')
    log.info({ at: 'first' }, 'starting')
    log.info({ at: 'last' }, 'request')
    ${end}`
  const { stderr, status } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script])
  assert.is(status, 0, stderr.toString())
  const lines = stderr.toString().trim().split('\n')
  // A write in progress may end up after the lines that are flushed at the end of the process.
  return lines.map((line) => (JSON.parse(line) as { at: string }).at).toSorted()
}

test('writes its last line before the process exits', () => {
  assert.equal(linesBeforeExit(''), ['first', 'last'])
  assert.equal(linesBeforeExit('process.exit(0)'), ['first', 'last'])
})

test('writes each line at once and in order', () => {
  const written: string[] = []
  const log = createLogger('info', { write: (text) => void written.push(text) })
  log.info({ at: 1 }, 'request')
  assert.match(written.join(''), /^.*"at":1.*\n$/)
  log.warn({ at: 2 }, 'something else')
  assert.match(written.join(''), /"at":1.*\n.*"at":2.*\n$/)
})

test('omits request lines at the level warn', () => {
  const written: string[] = []
  const log = createLogger('warn', { write: (text) => void written.push(text) })
  log.info({ status: 200 }, 'request')
  log.warn({}, 'something else')
  assert.match(written.join(''), /^[^\n]*"something else"[^\n]*\n$/)
})

test.run()
