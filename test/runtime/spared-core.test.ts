import { execFileSync, spawnSync } from 'node:child_process'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseCpuList } from '../../src/runtime/priority.ts'

const test = suite('a process that spares a core')

/** Prints the processors that each thread may use, including the thread pool. */
const SCRIPT = `
  import { readdirSync, readFileSync } from 'node:fs'
  import { pbkdf2 } from 'node:crypto'
  import { promisify } from 'node:util'
  import { spareOneCore } from ${JSON.stringify(new URL('../../src/runtime/priority.ts', import.meta.url).href)}
  const allowed = (thread) => /Cpus_allowed_list:\\s*(\\S+)/.exec(readFileSync('/proc/self/task/' + thread + '/status', 'utf8'))[1]
  const [before] = readdirSync('/proc/self/task').map(allowed)
  spareOneCore()
  await promisify(pbkdf2)('a', 'b', 1, 8, 'sha256')
  console.log(JSON.stringify([before, readdirSync('/proc/self/task').map(allowed)]))
`

test('runs every thread on all processors but one, if there are several', () => {
  const hasTaskset = spawnSync('taskset', ['--version']).error === undefined
  if (process.platform !== 'linux' || !hasTaskset) return console.log('NOTE: not run: it needs Linux and taskset')
  const words = ['--import', 'tsx', '--input-type=module', '--eval', SCRIPT]
  const [before, after] = JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' })) as [string, string[]]
  const cores = parseCpuList(before)
  const expected = cores.length > 1 ? cores.slice(1) : cores
  for (const list of after) assert.equal(parseCpuList(list), expected)
})

test('parses the processor list of Linux', () => {
  assert.equal(parseCpuList('0'), [0])
  assert.equal(parseCpuList('0-3,8'), [0, 1, 2, 3, 8])
})

test.run()
