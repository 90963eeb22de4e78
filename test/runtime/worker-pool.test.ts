import { Worker } from 'node:worker_threads'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { WorkerPool } from '../../src/runtime/worker-pool.ts'
import { waitFor, until } from '../until.ts'

/**
 * Tasks of a test thread: `answer` responds at once, `meet` when another thread has started a `meet` too, `hang` never,
 * and `die` ends the thread. An answer contains the thread and the start number of the task among all threads.
 */
type Task = 'answer' | 'meet' | 'hang' | 'die'
type TaskResult = { readonly thread: number; readonly begun: number }

const THREAD = `
  const { parentPort, threadId, workerData } = require('node:worker_threads')
  const counts = new Int32Array(workerData)
  const [BEGUN, MET] = [0, 1]
  parentPort.on('message', (task) => {
    if (task === 'die') throw new Error('it died over its task')
    const begun = Atomics.add(counts, BEGUN, 1)
    if (task === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    if (task === 'meet') {
      const mine = Atomics.add(counts, MET, 1)
      Atomics.notify(counts, MET)
      const pair = mine - (mine % 2) + 2
      for (let met = Atomics.load(counts, MET); met < pair; met = Atomics.load(counts, MET)) Atomics.wait(counts, MET, met)
    }
    parentPort.postMessage({ thread: threadId, begun })
  })`

type Context = { pool: (threads: number, idleFor?: number) => WorkerPool<Task, TaskResult> }
const test = suite<Context>('a worker pool')
const open: WorkerPool<Task, TaskResult>[] = []
test.before.each((given) => {
  given.pool = (threads, idleFor) => {
    const workerData = new SharedArrayBuffer(8)
    const pool = new WorkerPool<Task, TaskResult>(
      () => new Worker(THREAD, { eval: true, workerData }),
      threads,
      idleFor,
    )
    open.push(pool)
    return pool
  }
})
test.after.each(async () => {
  for (const pool of open.splice(0)) await pool.close()
})

test('of one thread runs tasks in order, one at a time', async ({ pool }) => {
  const one = pool(1)
  const responses = await Promise.all(Array.from({ length: 4 }, () => one.run('answer')))
  assert.is(new Set(responses.map(({ thread }) => thread)).size, 1)
  assert.equal(
    responses.map(({ begun }) => begun),
    [0, 1, 2, 3],
  )
})

test('of two threads runs two tasks at a time', async ({ pool }) => {
  const two = pool(2)
  const responses = await waitFor(
    'pairs of concurrent tasks',
    Promise.all(Array.from({ length: 6 }, () => two.run('meet'))),
  )
  assert.is(new Set(responses.map(({ thread }) => thread)).size, 2)
})

test('fails the task that kills its thread, and runs the waiting tasks on a new thread', async ({ pool }) => {
  const one = pool(1)
  const [before, dying, after] = await Promise.allSettled([one.run('answer'), one.run('die'), one.run('answer')])
  assert.is(before.status, 'fulfilled')
  assert.is(dying.status === 'rejected' && (dying.reason as Error).message, 'it died over its task')
  assert.is(after.status, 'fulfilled')
  assert.ok((await one.run('answer')).thread > 0)
})

test('ends an idle thread and starts another one for the next task', async ({ pool }) => {
  const one = pool(1, 1)
  const { thread } = await one.run('answer')
  await until('another thread', async () => (await one.run('answer')).thread !== thread)
})

test('that is closed fails running, waiting and new tasks', async ({ pool }) => {
  const one = pool(1)
  const tasks = [one.run('hang'), one.run('answer')].map((response) => response.catch((error: Error) => error.message))
  await one.close()
  assert.equal(await Promise.all(tasks), ['the thread ended', 'the pool of threads is closed'])
  assert.is(await one.run('answer').catch((error: Error) => error.message), 'the pool of threads is closed')
})

test.run()
