import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openLog, type LateLine } from '../../src/runtime/log.ts'

const test = suite('the log of a process')

const module = fileURLToPath(new URL('../../src/runtime/log.ts', import.meta.url))

const line = (members: string): LateLine => ({ at: Date.now(), members: () => members })

/** What a process writes on stderr that logs a request last, and then ends like this. */
function saidBy(end: string): string[] {
  const script = `const { openLog } = await import(${JSON.stringify(module)})
    const log = openLog('info')
    log.info({ at: 'first' }, 'starting')
    log.request({ at: 0, members: () => ',"at":"last"' })
    ${end}`
  const { stderr, status } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script])
  assert.is(status, 0, stderr.toString())
  const lines = stderr.toString().trim().split('\n')
  // A write on its way when the process ends may come behind what is written at the end.
  return lines.map((line) => (JSON.parse(line) as { at: string }).at).toSorted()
}

test('has its last request, however the process ends by itself', () => {
  assert.equal(saidBy(''), ['first', 'last'])
  assert.equal(saidBy('process.exit(0)'), ['first', 'last'])
})

test('writes what is no request at once, behind the requests before it', () => {
  const written: string[] = []
  const log = openLog('info', { write: (text) => void written.push(text) })
  log.request?.(line(',"at":1'))
  assert.equal(written, [])
  log.warn({ at: 2 }, 'something else')
  assert.match(written.join(''), /"at":1.*\n.*"at":2.*\n$/)
})

test('writes lines about requests as it writes all others', () => {
  const written: string[] = []
  const log = openLog('info', { write: (text) => void written.push(text) })
  log.request?.(line(',"status":200,"request":"r"'))
  log.info({ status: 200, request: 'r' }, 'request')
  const [mine = '', other = ''] = written.join('').trim().split('\n')
  const timeless = (line: string) => line.replace(/"time":"[-\dT:.]+Z"/, '"time":""')
  assert.is(timeless(mine), timeless(other))
  assert.not.equal(timeless(mine), mine)
})

test('has no lines about requests where it is told of warnings only', () => {
  const written: string[] = []
  const log = openLog('warn', { write: (text) => void written.push(text) })
  log.request?.(line(',"status":200'))
  log.warn({}, 'something else')
  assert.not.match(written.join(''), /"status"/)
})

test.run()
