import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { YoungGenerationLimiter } from '../../src/cli/heap.ts'
import { FROM_SOURCE } from '../from-source.ts'

const test = suite('the heap limits for V8')

/** Allocates until the limiter stops the growth of the young generation. */
const WORK = `
  import { setFlagsFromString } from 'node:v8'
  import { limitHeapGrowth } from './heap.ts'
  let isBounded = false
  limitHeapGrowth((flag) => {
    setFlagsFromString(flag)
    console.log(flag)
    isBounded ||= flag === '--semi-space-growth-factor=1'
  })
  const kept = []
  while (!isBounded) {
    for (let i = 0; i < 40_000; i++) if (kept.push({ list: [i] }) > 200_000) kept.length = 0
    await new Promise((done) => setImmediate(done))
  }
  process.exit()`

test('are supported by this Node, and bound the young generation under load', async () => {
  const cwd = fileURLToPath(new URL('../../src/cli', import.meta.url))
  const words = [...FROM_SOURCE, '--input-type=module', '--eval', WORK]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, words, { cwd })
  assert.is(stderr, '')
  assert.match(stdout, /^--heap-growing-percent=\d+\n--no-maglev\n--semi-space-growth-factor=1\n/)
})

const MB = 1024 * 1024

test('stop the growth of the young generation at 16 MB, and allow it again after V8 has shrunk it', () => {
  const flags: string[] = []
  const young = new YoungGenerationLimiter((flag) => flags.push(flag))
  for (const bytes of [1, 4, 16 * MB - 1]) young.afterGarbageCollection(bytes)
  assert.equal(flags, [])
  young.afterGarbageCollection(16 * MB)
  assert.equal(flags.splice(0), ['--semi-space-growth-factor=1'])
  young.afterGarbageCollection(32 * MB)
  assert.equal(flags, [])
  for (const bytes of [1 * MB, 2 * MB]) young.afterGarbageCollection(bytes)
  assert.equal(flags, ['--semi-space-growth-factor=2'])
})

test.run()
