import { execFileSync } from 'node:child_process'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('a lowered process priority')

/** Runs in a separate process, because an unprivileged process cannot raise its priority again. */
const SCRIPT = `
  import { readdirSync } from 'node:fs'
  import { getPriority } from 'node:os'
  import { pbkdf2 } from 'node:crypto'
  import { promisify } from 'node:util'
  import { lowerProcessPriority } from ${JSON.stringify(new URL('../../src/runtime/priority.ts', import.meta.url).href)}
  await promisify(pbkdf2)('a', 'b', 1, 8, 'sha256')
  lowerProcessPriority()
  console.log(JSON.stringify(readdirSync('/proc/self/task').map((thread) => getPriority(Number(thread)))))
`

test('applies to each thread, including the thread pool', () => {
  if (process.platform !== 'linux') return console.log('NOTE: not run: it reads the priorities of threads from /proc')
  const words = ['--import', 'tsx', '--input-type=module', '--eval', SCRIPT]
  const priorities = JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' })) as number[]
  assert.ok(priorities.length > 2)
  assert.equal(new Set(priorities), new Set([19]))
})

test.run()
