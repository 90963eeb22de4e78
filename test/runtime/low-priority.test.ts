import { execFileSync } from 'node:child_process'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('the priority of a process that gives way')

/** Runs in a process of its own, since nobody may raise a priority again. */
const LOWERED = `
  import { readdirSync } from 'node:fs'
  import { getPriority } from 'node:os'
  import { pbkdf2 } from 'node:crypto'
  import { promisify } from 'node:util'
  import { lowerProcessPriority } from ${JSON.stringify(new URL('../../src/runtime/priority.ts', import.meta.url).href)}
  await promisify(pbkdf2)('a', 'b', 1, 8, 'sha256')
  lowerProcessPriority()
  console.log(JSON.stringify(readdirSync('/proc/self/task').map((thread) => getPriority(Number(thread)))))
`

test('is that of each of its threads, those of the thread pool among them', () => {
  if (process.platform !== 'linux') return console.log('NOTE: not run: priorities of threads are looked up in /proc')
  const words = ['--import', 'tsx', '--input-type=module', '--eval', LOWERED]
  const priorities = JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' })) as number[]
  assert.ok(priorities.length > 2)
  assert.equal(new Set(priorities), new Set([19]))
})

test.run()
