import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FROM_SOURCE } from '../from-source.ts'

type Measured = { first: number; idle: number; again: number }
const test = suite<Measured>('what V8 is told')

/** The bytes of the young generation after a gigabyte of garbage beside what is kept, as the service has it, and so again. */
const WORK = `
  import { growModestly } from './heap.ts'
  import { getHeapSpaceStatistics } from 'node:v8'
  growModestly()
  const young = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size
  const kept = []
  async function work() {
    for (let round = 0; round < 200; round++) {
      for (let i = 0; i < 40_000; i++) if (kept.push({ round, list: [i] }) > 200_000) kept.length = 0
      await new Promise((done) => setImmediate(done))
    }
    return young()
  }
  const first = await work()
  kept.length = 0
  // What V8 does by itself where little happens.
  for (let time = 0; time < 3; time++) gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  const idle = young()
  console.log(JSON.stringify({ first, idle, again: await work() }))`

const MB = 1024 * 1024

/** V8 still grows once behind the bound: to 32 MB on Node 22 and 24, on Node 26 to 42. */
const MOST = 48 * MB

test.before(async (measured) => {
  const cwd = fileURLToPath(new URL('../../src/cli', import.meta.url))
  const words = ['--expose-gc', ...FROM_SOURCE, '--input-type=module', '--eval', WORK]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, words, { cwd })
  assert.is(stderr, '')
  Object.assign(measured, JSON.parse(stdout))
})

test('is understood by this Node, and keeps the young generation small where V8 alone lets it grow to 128 MB', ({
  first,
  again,
}) => {
  assert.ok(first > 0 && first <= MOST, `${first} bytes`)
  assert.ok(again <= MOST, `${again} bytes`)
})

test('lets the young generation grow again that V8 made small while nothing happened', ({ idle, again }) => {
  assert.ok(idle <= 4 * MB, `${idle} bytes`)
  assert.ok(again >= 8 * MB, `${again} bytes`)
})

test.run()
