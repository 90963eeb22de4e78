import Database from 'better-sqlite3'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../../../src/stores/ports/event-store.ts'
import type { ReadModelBuild, ReadStore } from '../../../../src/stores/ports/read-store.ts'
import { openSqliteReadStore } from '../../../../src/stores/sqlite/documents.ts'
import { at, diamond, diamonds, idsIn, put } from '../../../contract/read-store/model.ts'
import { withFakeTime } from '../../../fake-time.ts'
import { rejectedWith } from '../../../contract/event-store/given.ts'

type Given = { folder: string; store: ReadStore; live: ReadModelBuild }

const test = suite<Given>("a read model's file that another program has locked")
test.before.each(async (given) => {
  given.folder = mkdtempSync(join(tmpdir(), 'documents-'))
  given.store = openSqliteReadStore(given.folder)
  given.live = await given.store.live(diamonds)
})
test.after.each(async ({ folder, store }) => {
  await store.close()
  rmSync(folder, { recursive: true })
})

/** Locks a file from another connection. @returns a function that releases the lock */
function locked(folder: string, start: string): () => void {
  const file = readdirSync(folder).find((name) => name.startsWith(start) && name.endsWith('.db'))
  const other = new Database(join(folder, file ?? 'missing'), { fileMustExist: true })
  other.exec('BEGIN IMMEDIATE')
  return () => void other.exec('ROLLBACK').close()
}

const nextTurn = () => new Promise<void>((done) => setImmediate(done))

const CHANGES: readonly (readonly [what: string, start: string, change: (given: Given) => Promise<unknown>])[] = [
  ['a write', 'read-diamonds-', ({ live }) => live.write([put(diamond(1), 1n)], at(1))],
  ['unparking a stream', 'read-diamonds-', ({ live }) => live.unpark('diamond-1')],
  ['beginning a pending build', 'read-models', ({ store }) => store.beginPendingBuild(diamonds)],
  ['a promotion', 'read-models', ({ store, live }) => store.promote(diamonds, live)],
]

for (const [description, start, change] of CHANGES) {
  test(`does not block the event loop while ${description} waits, and is changed when the lock is released`, async (given) => {
    const release = locked(given.folder, start)
    let isDone = false
    const changed = change(given).then(() => (isDone = true))
    await nextTurn()
    assert.is(isDone, false)
    release()
    await changed
  })
}

test('can be read', async ({ folder, store, live }) => {
  await live.write([put(diamond(1), 1n)], at(1))
  const release = locked(folder, 'read-diamonds-')
  assert.equal(await idsIn(store), [1])
  release()
})

test('rejects a write after 5 s and stores nothing of it', ({ folder, store, live }) =>
  withFakeTime(async ({ advance }) => {
    const release = locked(folder, 'read-diamonds-')
    const refused = rejectedWith(StoreUnavailable, live.write([put(diamond(1), 1n)], at(1)))
    await advance(5_100)
    await refused
    release()
    assert.equal(await idsIn(store), [])
  }))

test.run()
