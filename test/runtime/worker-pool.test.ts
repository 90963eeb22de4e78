import { Worker } from 'node:worker_threads'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { WorkerPool } from '../../src/runtime/worker-pool.ts'

/** Of a thread here: `die` ends it, a number is slept for that many milliseconds; it says who it is, and when it worked. */
type Task = number | 'die'
type Answer = { readonly thread: number; readonly from: number; readonly to: number }

const THREAD = `
  const { parentPort, threadId } = require('node:worker_threads')
  const now = () => performance.timeOrigin + performance.now()
  parentPort.on('message', (task) => {
    if (task === 'die') throw new Error('it died over its task')
    const from = now()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, task)
    parentPort.postMessage({ thread: threadId, from, to: now() })
  })`

type Given = { pool: (threads: number) => WorkerPool<Task, Answer> }
const test = suite<Given>('a pool of threads')
const open: WorkerPool<Task, Answer>[] = []
test.before.each((given) => {
  given.pool = (threads) => {
    const pool = new WorkerPool<Task, Answer>(() => new Worker(THREAD, { eval: true }), threads)
    open.push(pool)
    return pool
  }
})
test.after.each(async () => {
  for (const pool of open.splice(0)) await pool.close()
})

const overlap = (a: Answer, b: Answer) => a.from < b.to && b.from < a.to

test('of one does one task after another, in their order', async ({ pool }) => {
  const one = pool(1)
  const answers = await Promise.all([20, 0, 10, 0].map((task) => one.run(task)))
  for (const [index, answer] of answers.entries()) {
    assert.is(answer.thread, answers[0]?.thread)
    const next = answers[index + 1]
    if (next !== undefined) assert.ok(answer.to <= next.from, 'two at a time, or out of order')
  }
})

test('of two does two at a time and no more', async ({ pool }) => {
  const two = pool(2)
  const answers = await Promise.all(Array.from({ length: 6 }, () => two.run(150)))
  assert.is(new Set(answers.map(({ thread }) => thread)).size, 2)
  assert.ok(answers.some((answer, index) => answers.slice(index + 1).some((other) => overlap(answer, other))))
})

test('fails the task over which a thread dies, and does those that wait on another', async ({ pool }) => {
  const one = pool(1)
  const [before, dying, after] = await Promise.allSettled([one.run(0), one.run('die'), one.run(0)])
  assert.is(before.status, 'fulfilled')
  assert.is(dying.status === 'rejected' && (dying.reason as Error).message, 'it died over its task')
  assert.is(after.status, 'fulfilled')
  assert.ok((await one.run(0)).thread > 0)
})

test('that is closed fails what it does, what waits and what comes', async ({ pool }) => {
  const one = pool(1)
  const asked = [one.run(60_000), one.run(0)].map((answer) => answer.catch((error: Error) => error.message))
  await one.close()
  assert.equal(await Promise.all(asked), ['the thread ended', 'the pool of threads is closed'])
  assert.is(await one.run(0).catch((error: Error) => error.message), 'the pool of threads is closed')
})

test.run()
