import Database from 'better-sqlite3'
import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import * as assert from 'uvu/assert'
import { startWorker } from '../../../../src/runtime/start-worker.ts'
import { WorkerPool } from '../../../../src/runtime/worker-pool.ts'
import { OutcomeUnknown, StoreUnavailable, type Append } from '../../../../src/stores/ports/event-store.ts'
import { connect, eventLogFormat } from '../../../../src/stores/sqlite/events/connection.ts'
import { logThread, type StorageThread } from '../../../../src/stores/sqlite/storage-thread.ts'
import type { StorageAnswer, StorageTask } from '../../../../src/stores/sqlite/storage-worker.ts'
import { event, events, ids, newStream, rejectedWith } from '../../../contract/event-store/given.ts'
import { until } from '../../../until.ts'
import { suiteOnFile } from './given.ts'

const test = suiteOnFile('the event log')

const large = () => ({ ...event(), data: { text: 'x'.repeat(50_000) } })

test('rejects appends on a full disk, still serves reads, and accepts appends when there is space', async ({
  open,
}) => {
  const store = open()
  const stream = newStream()
  const kept = event()
  await store.append(stream, 'none', [kept])
  const head = await store.head()
  await store.limitPages(12)
  const outcomes = await Promise.allSettled([
    store.append(stream, 0n, [event()]),
    store.append(newStream(), 'none', [large()]),
  ])
  for (const outcome of outcomes) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof StoreUnavailable)
    assert.match(outcome.reason.message, /SQLITE_FULL/)
  }
  assert.equal(ids(await store.readStream(stream)), [kept.id])
  assert.equal(await store.head(), head)
  await store.limitPages(100_000)
  await store.append(newStream(), 'none', [large()])
  assert.is((await store.readStream(stream)).length, 1)
})

test('reports a disk that rejected a write also while another process writes', async ({ file, open }) => {
  const store = open()
  await store.limitPages(12)
  await rejectedWith(StoreUnavailable, store.append(newStream(), 'none', [large()]))
  await store.limitPages(100_000)
  const other = new Database(file)
  other.exec('BEGIN IMMEDIATE')
  assert.match((await store.diskErrorMessage()) ?? '', 'locked')
  other.exec('COMMIT')
  other.close()
  assert.is(await store.diskErrorMessage(), undefined)
})

test('leaves no gap in the positions after a failed append', async ({ open }) => {
  const store = open()
  await store.limitPages(12)
  await rejectedWith(StoreUnavailable, store.append(newStream(), 'none', [event(), large()]))
  await store.limitPages(100_000)
  assert.is((await store.append(newStream(), 'none', [event()])).commit, 2n)
})

/** Fails a statement in the middle of a transaction, as a disk error does, and leaves the transaction open. */
const FAILING_INSERT = `
  CREATE TRIGGER failing BEFORE INSERT ON events WHEN NEW.type = 'Failing' BEGIN SELECT RAISE (ABORT, 'fault'); END`

test('stores nothing of a group commit in which a statement fails, and accepts later appends', async ({
  file,
  open,
}) => {
  const store = open()
  const other = new Database(file)
  other.exec(FAILING_INSERT)
  other.close()
  const stream = newStream()
  await Promise.all([
    rejectedWith(StoreUnavailable, store.append(stream, 'none', [event()])),
    rejectedWith(StoreUnavailable, store.append(newStream(), 'none', [{ ...event(), type: 'Failing' }])),
  ])
  assert.equal(await store.readStream(stream), [])
  assert.is((await store.append(stream, 'none', [event()])).commit, 2n)
})

/** A deferred foreign key, which fails at the commit. */
const FAILING_COMMIT = `
  CREATE TABLE parent (id INTEGER PRIMARY KEY);
  CREATE TABLE child (id REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);
  CREATE TRIGGER failing AFTER INSERT ON events BEGIN INSERT INTO child VALUES (1); END`

test('reports a failed commit as OutcomeUnknown and continues with a new connection', async ({ file, open }) => {
  const store = open()
  const other = new Database(file)
  other.exec(FAILING_COMMIT)
  const streams = [newStream(), newStream()]
  const failed = streams.map((stream) => rejectedWith(OutcomeUnknown, store.append(stream, 'none', [event()])))
  await Promise.all(failed)
  assert.equal(await store.readStream(streams[0] ?? ''), [])
  other.exec('DROP TRIGGER failing')
  other.close()
  const one = event()
  await store.append(streams[0] ?? '', 'none', [one])
  assert.equal(ids(await store.readStream(streams[0] ?? '')), [one.id])
})

test('waits for a transaction of another process without blocking the event loop', async ({ file, open }) => {
  const store = open({ busyTimeoutMs: 120_000 })
  const other = new Database(file)
  other.exec('BEGIN IMMEDIATE')
  const stream = newStream()
  let isStored = false
  const append = store.append(stream, 'none', [event()]).then(() => (isStored = true))
  for (let turn = 0; turn < 100; turn++) {
    await new Promise((done) => setImmediate(done))
    assert.equal(await store.readStream(stream), [])
  }
  assert.is(isStored, false)
  other.exec('COMMIT')
  await append
  assert.is((await store.readStream(stream)).length, 1)
  other.close()
})

test('blocks the event loop for at most 10 ms at a time while another process writes', ({ file }) => {
  const { db, close } = connect(file, eventLogFormat)
  const milliseconds = Number(db.pragma('busy_timeout', { simple: true }))
  close()
  assert.ok(milliseconds <= 10, `a statement waits for ${milliseconds} ms`)
})

test('rejects an append at its deadline when another process does not end its transaction, and never stores it', async ({
  file,
  open,
}) => {
  const store = open({ busyTimeoutMs: 40 })
  const other = new Database(file)
  other.exec('BEGIN IMMEDIATE')
  const stream = newStream()
  await rejectedWith(StoreUnavailable, store.append(stream, 'none', [event()]))
  other.exec('COMMIT')
  await store.append(newStream(), 'none', [event()])
  assert.equal(await store.readStream(stream), [])
  other.close()
})

test('delivers an event to a subscription in the turn in which its append resolves', async ({ open }) => {
  const store = open()
  const batches = store.subscribe(await store.head())[Symbol.asyncIterator]()
  await batches.next()
  const one = event()
  let delivered: readonly string[] = []
  const next = batches.next().then(({ value, done }) => (delivered = done === true ? [] : ids(value.events)))
  await store.append(newStream(), 'none', [one])
  await new Promise((done) => process.nextTick(done))
  assert.equal(delivered, [one.id])
  await next
})

test('shows an append to readers and subscriptions only when it is committed', async ({ open }) => {
  const release = Promise.withResolvers<void>()
  const held = logThread.run.bind(logThread)
  const store = open({ storageThread: { run: async (task) => release.promise.then(() => held(task)) } })
  const head = await store.head()
  const batches = store.subscribe(head)[Symbol.asyncIterator]()
  await batches.next()
  let isDelivered = false
  const next = batches.next().finally(() => (isDelivered = true))
  const stream = newStream()
  const append = store.append(stream, 'none', [event()])
  for (let turn = 0; turn < 100; turn++) await new Promise((done) => setImmediate(done))
  assert.equal([await store.head(), await store.readStream(stream), isDelivered], [head, [], false])
  release.resolve()
  const [position] = await Promise.all([append, next])
  assert.equal(await store.head(), position)
})

test('reports appends under way as OutcomeUnknown if their thread ends, and writes later ones on a new thread', async ({
  open,
}) => {
  const warnings: string[] = []
  let started = 0
  const start = () =>
    started++ === 0
      ? new Worker('require("node:worker_threads").parentPort.once("message", () => process.exit(1))', { eval: true })
      : startWorker('../../../../src/stores/sqlite/storage-worker', import.meta.url)
  const storageThread: StorageThread = new WorkerPool<StorageTask, StorageAnswer>(start, 1)
  const store = open({ storageThread, warn: (_fields, message) => void warnings.push(message) })
  const stream = newStream()
  await Promise.all([
    rejectedWith(OutcomeUnknown, store.append(stream, 'none', [event()])),
    rejectedWith(OutcomeUnknown, store.append(newStream(), 'none', [event()])),
  ])
  assert.equal(warnings, ['the storage thread ended; the next write starts a new one'])
  await store.append(stream, 'none', [event()])
  assert.is((await store.readStream(stream)).length, 1)
})

test('commits parallel appends in one transaction', async ({ open }) => {
  const store = open()
  await Promise.all(events(100).map((one) => store.append(newStream(), 'none', [one])))
  const { transactions, calls, events: written } = store.stats()
  assert.equal([transactions, calls, written], [1, 100, 100])
})

test('commits at most 500 events per transaction, unless one call has more', async ({ open }) => {
  const store = open()
  const bulk = (count: number): Append[] =>
    events(count).map((one) => ({ stream: newStream(), expected: 'none', events: [one] }))
  await Promise.all([store.appendMany(bulk(300)), store.appendMany(bulk(300)), store.appendMany(bulk(900))])
  assert.is(store.stats().transactions, 3)
})

test('checkpoints the WAL on a worker thread, not on the event loop', async ({ file, open }) => {
  const store = open()
  await until('two checkpoints', async () => {
    await Promise.all(Array.from({ length: 20 }, () => store.append(newStream(), 'none', [large()])))
    return store.stats().checkpoints >= 2
  })
  assert.is(store.stats().checkpointsOnLoop, 0)
  // Without a checkpoint the file would be a few pages long.
  assert.ok(statSync(file).size > 1_000_000)
})

test.run()
