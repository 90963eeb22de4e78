import Database from 'better-sqlite3'
import { statSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { OutcomeUnknown, StoreUnavailable, type Append } from '../../../../src/stores/ports/event-store.ts'
import { connect, eventLogFormat } from '../../../../src/stores/sqlite/events/connection.ts'
import { event, events, ids, newStream, rejectedWith } from '../../../contract/event-store/given.ts'
import { withFakeTime } from '../../../fake-time.ts'
import { until } from '../../../until.ts'
import { suiteOnFile } from './given.ts'

const test = suiteOnFile('the event log')

/** Stops the clock: a transaction is closed after some time, and waiting appends would go into the next one. */
const atOneTime = (run: () => Promise<void>) => withFakeTime(run)

const large = () => ({ ...event(), data: { text: 'x'.repeat(50_000) } })

test('rejects appends on a full disk, still serves reads, and accepts appends when there is space', async ({
  open,
}) => {
  const store = open()
  const stream = newStream()
  const kept = event()
  await store.append(stream, 'none', [kept])
  const head = await store.head()
  store.limitPages(12)
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
  store.limitPages(100_000)
  await store.append(newStream(), 'none', [large()])
  assert.is((await store.readStream(stream)).length, 1)
})

test('waits one turn for further appends to group with the first', async ({ open }) => {
  const store = open({ otherCommit: () => new Promise((done) => setImmediate(done)) })
  await atOneTime(async () => {
    const first = store.append(newStream(), 'none', [event()])
    const second = new Promise((done) => setImmediate(done)).then(() => store.append(newStream(), 'none', [event()]))
    await Promise.all([first, second])
  })
  const { transactions, events } = store.stats()
  assert.equal([transactions, events], [1, 2])
})

test('leaves no gap in the positions after a failed append', async ({ open }) => {
  const store = open()
  store.limitPages(12)
  await rejectedWith(StoreUnavailable, store.append(newStream(), 'none', [event(), large()]))
  store.limitPages(100_000)
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

test('waits for a transaction of another process without blocking the event loop between retries', async ({
  file,
  open,
}) => {
  const store = open({ busyDeadlineMs: 120_000 })
  const other = new Database(file)
  other.exec('BEGIN IMMEDIATE')
  const stream = newStream()
  let isStored = false
  const append = store.append(stream, 'none', [event()]).then(() => (isStored = true))
  await until('the third try', () => store.stats().busy >= 3)
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
  const store = open({ busyDeadlineMs: 40 })
  const other = new Database(file)
  other.exec('BEGIN IMMEDIATE')
  const stream = newStream()
  await rejectedWith(StoreUnavailable, store.append(stream, 'none', [event()]))
  other.exec('COMMIT')
  await store.append(newStream(), 'none', [event()])
  assert.equal(await store.readStream(stream), [])
  other.close()
})

test('delivers an event to a subscription in the tick of its commit', async ({ open }) => {
  const store = open()
  const batches = store.subscribe(await store.head())[Symbol.asyncIterator]()
  await batches.next()
  const next = batches.next()
  const one = event()
  const appended = store.append(newStream(), 'none', [one])
  let ticks = 0
  const count = () => {
    ticks++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  const [batch] = await Promise.all([next, appended])
  clearImmediate(counting)
  assert.equal(ids(batch.done === true ? [] : batch.value.events), [one.id])
  assert.ok(ticks <= 1, `${ticks} ticks`)
})

test('commits parallel appends in one transaction', async ({ open }) => {
  const store = open()
  await atOneTime(async () => {
    await Promise.all(events(100).map((one) => store.append(newStream(), 'none', [one])))
  })
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
