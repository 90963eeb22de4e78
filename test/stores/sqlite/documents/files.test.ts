import Database from 'better-sqlite3'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ReadModelLost } from '../../../../src/stores/ports/read-store.ts'
import { openSqliteReadStore } from '../../../../src/stores/sqlite/documents.ts'
import { at, diamond, diamonds, idsIn, put } from '../../../contract/read-store/model.ts'
import { waitFor } from '../../../until.ts'

const test = suite("a read model's files")
let folder = ''
test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'documents-'))
})
test.after.each(() => rmSync(folder, { recursive: true }))

const builds = () => readdirSync(folder).filter((name) => name.startsWith('read-diamonds') && name.endsWith('.db'))
const fileOf = (id: string) => `read-diamonds-v1-${id}.db`

/** Makes a file an hour old, because leftovers are recognized by their age. */
const age = (name: string) => utimesSync(join(folder, name), new Date(), new Date(Date.now() - 3_600_000))

test('of the previous build are deleted 60 s after a promotion', async () => {
  const due: { action: () => void; milliseconds: number }[] = []
  const store = openSqliteReadStore(folder, { schedule: (action, milliseconds) => due.push({ action, milliseconds }) })
  const old = await store.live(diamonds)
  await store.model(diamonds)
  const next = await store.begin(diamonds)
  await store.promote(diamonds, next)
  assert.equal(builds().toSorted(), [fileOf(old.id), fileOf(next.id)].toSorted())
  assert.equal(
    due.map(({ milliseconds }) => milliseconds),
    [60_000],
  )
  for (const { action } of due) action()
  assert.equal(builds(), [fileOf(next.id)])
  await store.close()
})

test('of the previous build are kept if it was promoted again', async () => {
  const due: (() => void)[] = []
  const store = openSqliteReadStore(folder, { schedule: (action) => due.push(action) })
  const old = await store.live(diamonds)
  await store.promote(diamonds, await store.begin(diamonds))
  await store.promote(diamonds, old)
  for (const action of due) action()
  assert.equal(builds(), [fileOf(old.id)])
  await store.close()
})

test('are deleted at the next opening if a killed process left them, but not those of a live process', async () => {
  const first = openSqliteReadStore(folder)
  const live = await first.live(diamonds)
  const filling = await first.begin(diamonds)
  new Database(join(folder, fileOf('0123456789ab'))).close()
  for (const name of builds()) age(name)
  const second = openSqliteReadStore(folder)
  assert.equal(builds().toSorted(), [fileOf(live.id), fileOf(filling.id)].toSorted())
  await Promise.all([first.close(), second.close()])
  for (const name of builds()) age(name)
  await openSqliteReadStore(folder).close()
  assert.equal(builds(), [fileOf(live.id)])
})

test('of a pending build are kept for a week', async () => {
  const first = openSqliteReadStore(folder)
  const live = await first.live(diamonds)
  const filling = await first.beginPendingBuild(diamonds)
  await first.close()
  for (const name of builds()) age(name)
  const second = openSqliteReadStore(folder)
  assert.equal(await second.pendingBuild(diamonds), { id: filling.id, isCaughtUp: false })
  await second.close()
  const long = new Date(Date.now() - 8 * 86_400_000)
  utimesSync(join(folder, fileOf(filling.id)), new Date(), long)
  const third = openSqliteReadStore(folder)
  assert.equal(builds(), [fileOf(live.id)])
  assert.is(await third.pendingBuild(diamonds), undefined)
  await third.close()
})

test('are missed after the live build was deleted manually, until another one is promoted', async () => {
  const first = openSqliteReadStore(folder)
  await (await first.live(diamonds)).write([put(diamond(1))], at(1))
  await first.close()
  for (const name of builds()) rmSync(join(folder, name))
  const second = openSqliteReadStore(folder)
  const missing = await second.live(diamonds).catch((error: unknown) => error)
  assert.instance(missing, ReadModelLost)
  const build = await second.begin(diamonds)
  await build.write([put(diamond(2))], at(2))
  await second.promote(diamonds, build)
  assert.equal(await idsIn(second), [2])
  await second.close()
})

test('are used again after the index of builds was deleted', async () => {
  const first = openSqliteReadStore(folder)
  await (await first.live(diamonds)).write([put(diamond(1)), put(diamond(2))], at(2))
  await first.close()
  rmSync(join(folder, 'read-models.db'))
  const second = openSqliteReadStore(folder)
  assert.equal(await idsIn(second), [1, 2])
  await second.close()
})

test('are missed after the index of builds was deleted, if any of several may be incomplete', async () => {
  const first = openSqliteReadStore(folder)
  await (await first.live(diamonds)).write([put(diamond(1)), put(diamond(2))], at(2))
  const incomplete = await first.beginPendingBuild(diamonds)
  await incomplete.write([put(diamond(1))], at(1))
  await first.close()
  rmSync(join(folder, 'read-models.db'))
  const second = openSqliteReadStore(folder)
  assert.instance(await second.live(diamonds).catch((error: unknown) => error), ReadModelLost)
  await second.close()
})

test('are not written by a process whose lease another one has taken over', async () => {
  const [hung, other] = [openSqliteReadStore(folder), openSqliteReadStore(folder)]
  const lease = await hung.acquireLease(diamonds)
  const build = await hung.live(diamonds)
  await build.write([put(diamond(1))], at(1))
  const next = await hung.begin(diamonds)
  rmSync(join(folder, 'read-diamonds-v1.lock'))
  const taken = await other.acquireLease(diamonds)
  assert.ok(taken)
  for (const change of [() => build.write([put(diamond(2))], at(2)), () => hung.promote(diamonds, next)])
    assert.match(String(await change().catch((error: unknown) => error)), /another process has taken over the lease/)
  await waitFor('it to notice', lease?.lost ?? Promise.reject(new Error('no lease')))
  assert.equal(await idsIn(other), [1])
  await taken?.release()
  await other.close()
  await hung.close()
})

test('are rejected with their name if a newer release or another program created them', async () => {
  const path = join(folder, 'read-models.db')
  await openSqliteReadStore(folder).close()
  change(path, 'user_version = 99')
  assert.throws(() => openSqliteReadStore(folder), /read-models\.db.*99.*newer release/)
  change(path, 'user_version = 1')
  change(path, 'application_id = 7')
  assert.throws(() => openSqliteReadStore(folder), /read-models\.db.*application_id 7/)
})

test('leave other files of the folder untouched', async () => {
  mkdirSync(join(folder, 'outbox'))
  new Database(join(folder, 'events.db')).close()
  age('events.db')
  await openSqliteReadStore(folder).close()
  assert.ok(readdirSync(folder).includes('events.db'))
})

function change(path: string, pragma: string): void {
  const db = new Database(path)
  db.pragma(pragma)
  db.close()
}

test.run()
