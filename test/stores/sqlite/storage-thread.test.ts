import Database from 'better-sqlite3'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { OutcomeUnknown, StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import { StorageWriter, type StorageThread } from '../../../src/stores/sqlite/storage-thread.ts'
import type { StorageAnswer, StorageTask } from '../../../src/stores/sqlite/storage-worker.ts'
import { withFakeTime, type FakeTime } from '../../fake-time.ts'

type Transaction = {
  readonly changes: readonly unknown[]
  /** The thread commits it. Each change's result is the change itself. */
  commit(): void
  fail(answer: StorageAnswer): void
  /** The thread ends. */
  end(): void
}

/** A storage thread whose transactions end when the test says so. */
class TestThread implements StorageThread {
  readonly transactions: Transaction[] = []
  readonly otherTasks: StorageTask[] = []
  /** Why a check finds that the disk rejects writes. */
  diskError: string | undefined

  run(task: StorageTask): Promise<StorageAnswer> {
    if (task.do !== 'write') {
      this.otherTasks.push(task)
      return Promise.resolve({ value: task.do === 'check' ? this.diskError : undefined })
    }
    const { changes } = task
    return new Promise((resolve, reject) => {
      this.transactions.push({
        changes,
        commit: () => resolve({ value: changes }),
        fail: resolve,
        end: () => reject(new Error('the thread ended')),
      })
    })
  }

  /** The changes of each transaction so far. */
  get changes() {
    return this.transactions.map(({ changes }) => changes)
  }

  get last(): Transaction {
    const last = this.transactions.at(-1)
    if (last === undefined) throw new Error('no transaction has begun')
    return last
  }
}

const MAX_CHANGES = 5

/** @param warnings gets the message of each warning */
function writerOn(thread: StorageThread, warnings: string[] = []) {
  return new StorageWriter<string, string>({
    file: { path: 'a.db', kind: 'vault', busyTimeoutMs: 1 },
    thread,
    warn: (_fields, message) => void warnings.push(message),
    countForTransaction: (waiting) => Math.min(waiting.length, MAX_CHANGES),
    isLazy: (change) => change.startsWith('lazy'),
  })
}

const nextTurn = () => new Promise((done) => setImmediate(done))
const begun = async (thread: TestThread, transactions: number) => {
  while (thread.transactions.length < transactions) await nextTurn()
}
const isSettled = (promise: Promise<unknown>) =>
  Promise.race([
    promise.then(
      () => true,
      () => true,
    ),
    nextTurn().then(() => false),
  ])

type Given = { readonly thread: TestThread; readonly writer: ReturnType<typeof writerOn>; readonly time: FakeTime }
const writers = suite('the writer of an embedded store')

/** The test owns the clock, so that a slow machine does not end a wait early. */
const test = (rule: string, run: (given: Given) => Promise<void>) =>
  writers(rule, () =>
    withFakeTime(async (time) => {
      const thread = new TestThread()
      await run({ thread, time, writer: writerOn(thread) })
    }),
  )

/** Writes changes in transactions that take 100 ms each. */
async function writeSlowly({ thread, writer, time }: Given, changes: readonly string[]): Promise<void> {
  const written = changes.map((change) => writer.write(change))
  await nextTurn()
  await time.advance(100)
  thread.last.commit()
  await Promise.all(written)
}

test('acknowledges a change only when its transaction is committed', async ({ thread, writer }) => {
  const written = writer.write('a')
  await nextTurn()
  assert.is(await isSettled(written), false)
  thread.last.commit()
  assert.is(await written, 'a')
})

test('commits the changes of one turn of the event loop together', async ({ thread, writer }) => {
  const written = ['a', 'b', 'c'].map((change) => writer.write(change))
  await nextTurn()
  thread.last.commit()
  assert.equal(await Promise.all(written), ['a', 'b', 'c'])
  assert.equal(thread.changes, [['a', 'b', 'c']])
})

test('gathers the changes that arrive during a commit for the next one', async ({ thread, writer }) => {
  const first = writer.write('a')
  await nextTurn()
  const others = ['b', 'c'].map((change) => writer.write(change))
  await nextTurn()
  assert.equal(thread.changes, [['a']], 'one transaction at a time')
  thread.last.commit()
  await begun(thread, 2)
  thread.last.commit()
  await first
  await Promise.all(others)
  assert.equal(thread.changes, [['a'], ['b', 'c']])
})

test('puts no more changes into a transaction than fit', async ({ thread, writer }) => {
  const written = ['a', 'b', 'c', 'd', 'e', 'f'].map((change) => writer.write(change))
  await nextTurn()
  thread.last.commit()
  await begun(thread, 2)
  assert.equal(thread.changes, [['a', 'b', 'c', 'd', 'e'], ['f']])
  thread.last.commit()
  await Promise.all(written)
})

test('writes a change that a caller makes as soon as its first one is durable', async ({ thread, writer }) => {
  const both = writer.write('a').then(() => writer.write('b'))
  await nextTurn()
  thread.last.commit()
  await begun(thread, 2)
  thread.last.commit()
  assert.is(await both, 'b')
})

test('waits a quarter of the last commit for those who wrote then, who may write again', async (given) => {
  await writeSlowly(given, ['a', 'b'])
  const { thread, writer, time } = given
  void writer.write('c')
  await nextTurn()
  await time.advance(24)
  assert.is(thread.transactions.length, 1)
  await time.advance(1)
  await begun(thread, 2)
  assert.equal(thread.changes.slice(1), [['c']])
})

test('waits no longer than until they have written', async (given) => {
  await writeSlowly(given, ['a', 'b'])
  const { thread, writer } = given
  void writer.write('c')
  await nextTurn()
  void writer.write('d')
  await begun(thread, 2)
  assert.equal(thread.changes.slice(1), [['c', 'd']])
})

test('does not wait when one caller writes again and again', async (given) => {
  await writeSlowly(given, ['a'])
  void given.writer.write('b')
  await begun(given.thread, 2)
  assert.equal(given.thread.changes.slice(1), [['b']])
})

test('writes a change that nobody waits for with the next one', async ({ thread, writer }) => {
  void writer.write('lazy')
  await nextTurn()
  assert.is(thread.transactions.length, 0)
  void writer.write('a')
  await nextTurn()
  assert.equal(thread.changes, [['lazy', 'a']])
})

test('writes a change that nobody waits for after 50 ms at the latest', async ({ thread, writer, time }) => {
  void writer.write('lazy')
  await time.advance(49)
  await nextTurn()
  assert.is(thread.transactions.length, 0)
  await time.advance(1)
  await nextTurn()
  assert.equal(thread.changes, [['lazy']])
})

test('does not wait for those whose change nobody waited for', async (given) => {
  const { thread, writer } = given
  const lazy = writer.write('lazy')
  await writeSlowly(given, ['a'])
  await lazy
  void writer.write('b')
  await begun(thread, 2)
  assert.equal(thread.changes.slice(1), [['b']])
})

test('rejects all changes of a failed transaction with its error, and writes the next ones', async ({
  thread,
  writer,
}) => {
  const failed = Promise.allSettled(['a', 'b'].map((change) => writer.write(change)))
  await nextTurn()
  thread.last.fail({
    failure: { name: 'StoreUnavailable', message: 'a.db: full', sqlite: { code: 'SQLITE_FULL', message: 'full' } },
  })
  for (const outcome of await failed) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof StoreUnavailable)
    assert.is(outcome.reason.message, 'a.db: full')
    assert.ok(outcome.reason.cause instanceof Database.SqliteError && outcome.reason.cause.code === 'SQLITE_FULL')
  }
  const next = writer.write('c')
  await nextTurn()
  thread.last.commit()
  assert.is(await next, 'c')
})

test('reports the outcome of changes as unknown if the thread ends, and says so in the log', async ({ thread }) => {
  const warnings: string[] = []
  const writer = writerOn(thread, warnings)
  const failed = Promise.allSettled([writer.write('a')])
  await nextTurn()
  thread.last.end()
  const [outcome] = await failed
  assert.ok(outcome?.status === 'rejected' && outcome.reason instanceof OutcomeUnknown)
  assert.equal(warnings, ['the storage thread ended; the next write starts a new one'])
})

test('rejects what comes after the file was closed', async ({ thread, writer }) => {
  await writer.close()
  const [late] = await Promise.allSettled([writer.write('a')])
  assert.ok(late?.status === 'rejected' && late.reason instanceof StoreUnavailable)
  assert.equal(thread.transactions, [])
})

test('starts no thread to close a file that was only read', async ({ thread, writer }) => {
  await writer.close()
  assert.equal(thread.otherTasks, [])
})

const checks = ({ otherTasks }: TestThread) =>
  otherTasks.flatMap((task) => (task.do === 'check' ? [task.thoroughly] : []))

test('tests the disk by a write only after a failed one', async ({ thread, writer }) => {
  assert.is(await writer.diskError(), undefined)
  const failed = Promise.allSettled([writer.write('a')])
  await nextTurn()
  thread.last.fail({ failure: { name: 'StoreUnavailable', message: 'full' } })
  await failed
  thread.diskError = 'still full'
  assert.is(await writer.diskError(), 'still full')
  thread.diskError = undefined
  assert.is(await writer.diskError(), undefined)
  assert.is(await writer.diskError(), undefined)
  assert.equal(checks(thread), [false, true, true, false])
})

test('answers a question about the disk at once while a transaction is under way', async ({ thread, writer }) => {
  const written = writer.write('a')
  await nextTurn()
  assert.is(await writer.diskError(), undefined)
  assert.equal(thread.otherTasks, [])
  thread.last.commit()
  await written
})

test('takes the lock of another process for no fault of the disk', async ({ thread, writer }) => {
  const failed = Promise.allSettled([writer.write('a')])
  await nextTurn()
  const sqlite = { code: 'SQLITE_BUSY', message: 'database is locked' }
  thread.last.fail({ failure: { name: 'StoreUnavailable', message: 'locked', sqlite } })
  await failed
  await writer.diskError()
  assert.equal(checks(thread), [false])
  assert.is(writer.stats.busy, 1)
})

test('writes everything before it closes the file', async ({ thread, writer }) => {
  const written = ['lazy', 'a'].map((change) => writer.write(change))
  const closed = writer.close()
  await nextTurn()
  assert.is(await isSettled(closed), false)
  assert.equal(thread.changes, [['lazy', 'a']])
  thread.last.commit()
  await Promise.all([...written, closed])
  assert.equal(
    thread.otherTasks.map((task) => task.do),
    ['close'],
  )
})

writers.run()
