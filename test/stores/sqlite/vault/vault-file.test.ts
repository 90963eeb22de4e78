import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../../../src/stores/ports/event-store.ts'
import { VaultFile } from '../../../../src/stores/sqlite/vault/vault-file.ts'
import { withFakeTime, type FakeTime } from '../../../fake-time.ts'

/** A disk that answers when it is told to. */
class TestDisk {
  readonly #asked: ((error: Error | null) => void)[] = []
  /** What was synced at once, and what that fails with. */
  now = 0
  failure: Error | undefined

  sync(_descriptor: number, done: (error: Error | null) => void): void {
    this.#asked.push(done)
  }

  syncNow(): void {
    this.now++
    if (this.failure) throw this.failure
  }

  get waiting(): number {
    return this.#asked.length
  }

  answer(error: Error | null = null): void {
    this.#asked.shift()?.(error)
  }
}

type Given = { folder: string; disk: TestDisk; file: VaultFile }
const commits = suite<Given>('commits of the vault')

/** No time passes unless the test lets it: however long this machine takes, a transaction is not ended for it. */
const test = (rule: string, run: (given: Given, time: FakeTime) => Promise<void>) =>
  commits(rule, (given) => withFakeTime((time) => run(given, time)))

commits.before.each((given) => {
  given.folder = mkdtempSync(join(tmpdir(), 'adamant-vault-'))
  given.disk = new TestDisk()
  given.file = new VaultFile(join(given.folder, 'vault.db'), given.disk)
})
commits.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }))

const put = (file: VaultFile, digest: string) =>
  file.change((on) => void on.insertEntry.run(digest, Buffer.from(digest), 1, 2))
const held = (file: VaultFile, digest: string) => file.read((on) => on.entry.get(digest)?.toString())
const turn = () => new Promise((done) => setImmediate(done))
const isSettled = (promise: Promise<unknown>) => Promise.race([promise.then(() => true), turn().then(() => false)])

async function synced({ disk }: Given, error: Error | null = null): Promise<void> {
  while (disk.waiting === 0) await turn()
  disk.answer(error)
}

test('are told of when the disk has them, and not before', async (given) => {
  const done = put(given.file, 'a')
  while (given.disk.waiting === 0) await turn()
  assert.is(await isSettled(done), false)
  given.disk.answer()
  await done
  assert.is(held(given.file, 'a'), 'a')
  await given.file.close()
})

test('gather what comes while the disk is at work, and share the next wait', async (given) => {
  const first = put(given.file, 'a')
  while (given.disk.waiting === 0) await turn()
  const others = [put(given.file, 'b'), put(given.file, 'c')]
  await turn()
  assert.is(given.disk.waiting, 1, 'one sync at a time')
  given.disk.answer()
  await first
  await synced(given)
  await Promise.all(others)
  assert.is(given.disk.waiting, 0)
  await given.file.close()
})

test('that may not last are not told of, and those behind them begin a new WAL', async (given) => {
  const failed = put(given.file, 'a').catch((error: unknown) => error)
  await synced(given, new Error('EIO: i/o error, fdatasync'))
  const error = await failed
  assert.instance(error, StoreUnavailable)
  assert.match(String(error), /vault\.db-wal: EIO/)

  const wal = `${given.file.path}-wal`
  const before = statSync(wal).size
  const next = put(given.file, 'b')
  while (given.disk.waiting === 0) await turn()
  assert.ok(statSync(wal).size < before, 'the WAL holds the new transaction alone')
  given.disk.answer()
  await next
  assert.is(held(given.file, 'b'), 'b')
  await given.file.close()
})

test('of many changes wait for the disk at once, as whoever made them does', async ({ file, disk }) => {
  await Promise.all(['a', 'b', 'c'].map((digest) => put(file, digest)))
  assert.equal([disk.now, disk.waiting], [1, 0])
  assert.is(held(file, 'c'), 'c')

  disk.failure = new Error('EIO: i/o error, fdatasync')
  const failed = await Promise.allSettled(['d', 'e', 'f'].map((digest) => put(file, digest)))
  assert.ok(failed.every(({ status }) => status === 'rejected'))
  await file.close()
})

test('gather what comes turn after turn, and wait for the disk once', async ({ file, disk }) => {
  const puts: Promise<void>[] = []
  for (const digest of ['a', 'b', 'c', 'd']) {
    puts.push(put(file, digest))
    await turn()
  }
  await Promise.all(puts)
  assert.equal([disk.now, disk.waiting], [1, 0])
  await file.close()
})

/** Puts one more each turn until the first one is told of, or this many. */
async function putsUntilFirst(file: VaultFile, most: number, between: () => void = () => undefined): Promise<number> {
  const told: string[] = []
  const puts = [put(file, 'first').then(() => void told.push('first'))]
  while (told.length === 0 && puts.length < most) {
    puts.push(put(file, String(puts.length)))
    between()
    await turn()
  }
  assert.is(told.length, 1, `waited for ${puts.length} others`)
  await Promise.all(puts)
  return puts.length
}

test('are not put off for ever where every turn brings more: 250 are enough', async ({ file }) => {
  await putsUntilFirst(file, 300)
  await file.close()
})

test('are not put off for ever where every turn brings more: 20 ms are enough', async ({ file }, time) => {
  const puts = await putsUntilFirst(file, 100, () => time.jump(1))
  assert.ok(puts > 10, 'they were gathered')
  await file.close()
})

test('tell when those who wait for one have been told, and nothing where nobody waits', async (given, time) => {
  assert.is(given.file.pendingCommit, undefined)
  const told: string[] = []
  const done = put(given.file, 'a').then(() => told.push('who changed'))
  const telling = [given.file.pendingCommit]
  while (given.disk.waiting === 0) await turn()
  telling.push(given.file.pendingCommit)
  assert.ok(telling.every((each) => each !== undefined))
  const all = telling.map((each) => each?.then(() => told.push('who joins')))
  given.disk.answer()
  await Promise.all([done, ...all])
  assert.equal(told, ['who changed', 'who joins', 'who joins'])

  const later = given.file.changeLater((on) => void on.deleteEntry.run('a'))
  assert.is(given.file.pendingCommit, undefined)
  await time.pass(50)
  while (given.disk.waiting === 0) await turn()
  assert.is(given.file.pendingCommit, undefined)
  given.disk.answer()
  await later
  await given.file.close()
})

test('are waited for by who closes the file', async (given) => {
  const done = put(given.file, 'a')
  while (given.disk.waiting === 0) await turn()
  const closed = given.file.close()
  assert.is(await isSettled(closed), false)
  given.disk.answer()
  await Promise.all([done, closed])
})

test('that were closed close no other file when they are closed again', async ({ folder, file }) => {
  await file.close()
  const others = Array.from({ length: 5 }, (_, index) => openSync(join(folder, `other-${index}`), 'w'))
  await file.close()
  for (const other of others) {
    writeSync(other, 'still open')
    closeSync(other)
  }
})

commits.run()
