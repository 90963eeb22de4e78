import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../../../src/stores/ports/event-store.ts'
import { VaultFile } from '../../../../src/stores/sqlite/vault/vault-file.ts'
import { withFakeTime, type FakeTime } from '../../../fake-time.ts'

/** A disk on which a sync completes when the test calls `completeSync`. */
class TestDisk {
  readonly #syncs: ((error: Error | null) => void)[] = []
  /** Number of blocking syncs. */
  now = 0
  /** What blocking syncs fail with. */
  failure: Error | undefined

  sync(_descriptor: number, done: (error: Error | null) => void): void {
    this.#syncs.push(done)
  }

  syncNow(): void {
    this.now++
    if (this.failure) throw this.failure
  }

  get waiting(): number {
    return this.#syncs.length
  }

  completeSync(error: Error | null = null): void {
    this.#syncs.shift()?.(error)
  }
}

type Given = { folder: string; disk: TestDisk; file: VaultFile }
const commits = suite<Given>('commits of the vault')

/** The test owns the clock, so a slow machine does not close a transaction early. */
const test = (rule: string, run: (given: Given, time: FakeTime) => Promise<void>) =>
  commits(rule, (given) => withFakeTime((time) => run(given, time)))

commits.before.each((given) => {
  given.folder = mkdtempSync(join(tmpdir(), 'adamant-vault-'))
  given.disk = new TestDisk()
  given.file = new VaultFile(join(given.folder, 'vault.db'), given.disk)
})
commits.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }))

const put = (file: VaultFile, digest: string) =>
  file.change((statements) => void statements.insertEntry.run(digest, Buffer.from(digest), 1, 2))
const readEntry = (file: VaultFile, digest: string) =>
  file.read((statements) => statements.entry.get(digest)?.toString())
const nextTurn = () => new Promise((done) => setImmediate(done))
const isSettled = (promise: Promise<unknown>) => Promise.race([promise.then(() => true), nextTurn().then(() => false)])

async function synced({ disk }: Given, error: Error | null = null): Promise<void> {
  while (disk.waiting === 0) await nextTurn()
  disk.completeSync(error)
}

test('are acknowledged only when the disk has synced them', async (given) => {
  const done = put(given.file, 'a')
  while (given.disk.waiting === 0) await nextTurn()
  assert.is(await isSettled(done), false)
  given.disk.completeSync()
  await done
  assert.is(readEntry(given.file, 'a'), 'a')
  await given.file.close()
})

test('group the changes that arrive during a sync into the next one', async (given) => {
  const first = put(given.file, 'a')
  while (given.disk.waiting === 0) await nextTurn()
  const others = [put(given.file, 'b'), put(given.file, 'c')]
  await nextTurn()
  assert.is(given.disk.waiting, 1, 'one sync at a time')
  given.disk.completeSync()
  await first
  await synced(given)
  await Promise.all(others)
  assert.is(given.disk.waiting, 0)
  await given.file.close()
})

test('are rejected if their sync fails, and later ones start a new WAL', async (given) => {
  const failed = put(given.file, 'a').catch((error: unknown) => error)
  await synced(given, new Error('EIO: i/o error, fdatasync'))
  const error = await failed
  assert.instance(error, StoreUnavailable)
  assert.match(String(error), /vault\.db-wal: EIO/)

  const wal = `${given.file.path}-wal`
  const before = statSync(wal).size
  const next = put(given.file, 'b')
  while (given.disk.waiting === 0) await nextTurn()
  assert.ok(statSync(wal).size < before, 'the WAL contains only the new transaction')
  given.disk.completeSync()
  await next
  assert.is(readEntry(given.file, 'b'), 'b')
  await given.file.close()
})

test('of several changes block for one sync, and fail together', async ({ file, disk }) => {
  await Promise.all(['a', 'b', 'c'].map((digest) => put(file, digest)))
  assert.equal([disk.now, disk.waiting], [1, 0])
  assert.is(readEntry(file, 'c'), 'c')

  disk.failure = new Error('EIO: i/o error, fdatasync')
  const failed = await Promise.allSettled(['d', 'e', 'f'].map((digest) => put(file, digest)))
  assert.ok(failed.every(({ status }) => status === 'rejected'))
  await file.close()
})

test('group the changes of successive turns into one sync', async ({ file, disk }) => {
  const puts: Promise<void>[] = []
  for (const digest of ['a', 'b', 'c', 'd']) {
    puts.push(put(file, digest))
    await nextTurn()
  }
  await Promise.all(puts)
  assert.equal([disk.now, disk.waiting], [1, 0])
  await file.close()
})

/** Adds an entry in each turn until the first one is acknowledged, at most `most`. @returns how many were added */
async function putsUntilFirst(file: VaultFile, most: number, between: () => void = () => undefined): Promise<number> {
  const acknowledged: string[] = []
  const puts = [put(file, 'first').then(() => void acknowledged.push('first'))]
  while (acknowledged.length === 0 && puts.length < most) {
    puts.push(put(file, String(puts.length)))
    between()
    await nextTurn()
  }
  assert.is(acknowledged.length, 1, `waited for ${puts.length} others`)
  await Promise.all(puts)
  return puts.length
}

test('are not delayed beyond 250 changes when every turn adds more', async ({ file }) => {
  await putsUntilFirst(file, 300)
  await file.close()
})

test('are not delayed beyond 20 ms when every turn adds more', async ({ file }, time) => {
  const puts = await putsUntilFirst(file, 100, () => time.jump(1))
  assert.ok(puts > 10, 'they were grouped')
  await file.close()
})

test('expose a pending commit that resolves after its callers, unless no caller waits', async (given, time) => {
  assert.is(given.file.pendingCommit, undefined)
  const resolved: string[] = []
  const done = put(given.file, 'a').then(() => resolved.push('caller'))
  const pending = [given.file.pendingCommit]
  while (given.disk.waiting === 0) await nextTurn()
  pending.push(given.file.pendingCommit)
  assert.ok(pending.every((each) => each !== undefined))
  const all = pending.map((each) => each?.then(() => resolved.push('pending commit')))
  given.disk.completeSync()
  await Promise.all([done, ...all])
  assert.equal(resolved, ['caller', 'pending commit', 'pending commit'])

  const later = given.file.changeLater((statements) => void statements.deleteEntry.run('a'))
  assert.is(given.file.pendingCommit, undefined)
  await time.advance(50)
  while (given.disk.waiting === 0) await nextTurn()
  assert.is(given.file.pendingCommit, undefined)
  given.disk.completeSync()
  await later
  await given.file.close()
})

test('complete before the file is closed', async (given) => {
  const done = put(given.file, 'a')
  while (given.disk.waiting === 0) await nextTurn()
  const closed = given.file.close()
  assert.is(await isSettled(closed), false)
  given.disk.completeSync()
  await Promise.all([done, closed])
})

test('ignore a second close, which would close a reused file descriptor', async ({ folder, file }) => {
  await file.close()
  const others = Array.from({ length: 5 }, (_, index) => openSync(join(folder, `other-${index}`), 'w'))
  await file.close()
  for (const other of others) {
    writeSync(other, 'still open')
    closeSync(other)
  }
})

commits.run()
