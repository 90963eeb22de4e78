import Database from 'better-sqlite3'
import { mkdtempSync, rmSync, stat } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { cacheUntilChanged, countTurns } from '../../../src/stores/sqlite/change-detection.ts'

type Given = { folder: string; here: Database.Database; there: Database.Database }
const test = suite<Given>('a value cached from a SQLite file')

test.before.each((given) => {
  given.folder = mkdtempSync(join(tmpdir(), 'changes-'))
  given.here = new Database(join(given.folder, 'file.db'))
  given.here.exec('PRAGMA journal_mode = wal; CREATE TABLE things (thing)')
  given.there = new Database(join(given.folder, 'file.db'))
})
test.after.each(({ folder, here, there }) => {
  here.close()
  there.close()
  rmSync(folder, { recursive: true })
})

const count = (db: Database.Database) => () => ({ things: db.prepare('SELECT * FROM things').all().length })
const add = (db: Database.Database) => void db.exec('INSERT INTO things VALUES (1)')

/** Milliseconds within which a thread of libuv completes `stat`. */
const ARRIVED = 50

test('is read once per turn of the event loop', ({ here }) => {
  let read = 0
  const things = cacheUntilChanged(here, countTurns(), () => ({ read: ++read }))
  assert.is(things.get(), things.get())
  assert.is(read, 1)
})

test('is current in an I/O callback, even if it was read earlier in the same iteration of the event loop', async (given) => {
  const { here, there } = given
  const things = cacheUntilChanged(here, countTurns(), count(here))
  const arrived = await new Promise((resolve) => {
    // The callback of `stat` runs between this immediate and the next ones.
    setImmediate(() => {
      things.get()
      stat(given.folder, () => {
        add(there)
        resolve(things.get().things)
      })
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ARRIVED)
    })
  })
  assert.is(arrived, 1)
})

test('is current after an await, even if it was read before it', async ({ here, there }) => {
  const things = cacheUntilChanged(here, countTurns(), count(here))
  things.get()
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
  add(there)
  assert.is(things.get().things, 1)
})

test.run()
