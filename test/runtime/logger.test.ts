import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger } from '../../src/runtime/logger.ts'

const test = suite('the log of a process')

const module = fileURLToPath(new URL('../../src/runtime/logger.ts', import.meta.url))

/** What a process writes on stderr that logs two lines, and then ends like this. */
function saidBy(end: string): string[] {
  const script = `const { createLogger } = await import(${JSON.stringify(module)})
    const log = createLogger('info')
    log.info({ at: 'first' }, 'starting')
    log.info({ at: 'last' }, 'request')
    ${end}`
  const { stderr, status } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script])
  assert.is(status, 0, stderr.toString())
  const lines = stderr.toString().trim().split('\n')
  // A write on its way when the process ends may come behind what is written at the end.
  return lines.map((line) => (JSON.parse(line) as { at: string }).at).toSorted()
}

test('has its last line, however the process ends by itself', () => {
  assert.equal(saidBy(''), ['first', 'last'])
  assert.equal(saidBy('process.exit(0)'), ['first', 'last'])
})

test('writes each line at once, behind those before it', () => {
  const written: string[] = []
  const log = createLogger('info', { write: (text) => void written.push(text) })
  log.info({ at: 1 }, 'request')
  assert.match(written.join(''), /^.*"at":1.*\n$/)
  log.warn({ at: 2 }, 'something else')
  assert.match(written.join(''), /"at":1.*\n.*"at":2.*\n$/)
})

test('has no lines about requests where it is told of warnings only', () => {
  const written: string[] = []
  const log = createLogger('warn', { write: (text) => void written.push(text) })
  log.info({ status: 200 }, 'request')
  log.warn({}, 'something else')
  assert.match(written.join(''), /^[^\n]*"something else"[^\n]*\n$/)
})

test.run()
