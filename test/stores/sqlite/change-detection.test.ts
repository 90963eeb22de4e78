import Database from 'better-sqlite3'
import { mkdtempSync, rmSync, stat } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { cacheUntilChanged, countTurns } from '../../../src/stores/sqlite/change-detection.ts'

type Given = { folder: string; reader: Database.Database; writer: Database.Database }
const test = suite<Given>('a value cached from a SQLite file')

test.before.each((given) => {
  given.folder = mkdtempSync(join(tmpdir(), 'changes-'))
  given.reader = new Database(join(given.folder, 'file.db'))
  given.reader.exec('PRAGMA journal_mode = wal; CREATE TABLE things (thing)')
  given.writer = new Database(join(given.folder, 'file.db'))
})
test.after.each(({ folder, reader, writer }) => {
  reader.close()
  writer.close()
  rmSync(folder, { recursive: true })
})

const count = (db: Database.Database) => () => ({ things: db.prepare('SELECT * FROM things').all().length })
const add = (db: Database.Database) => void db.exec('INSERT INTO things VALUES (1)')

/** Milliseconds within which a thread of libuv completes `stat`. */
const ARRIVED = 50

test('is read once per turn of the event loop', ({ reader }) => {
  let read = 0
  const cached = cacheUntilChanged(reader, countTurns(), () => ({ read: ++read }))
  assert.is(cached.get(), cached.get())
  assert.is(read, 1)
})

test('is current in an I/O callback, even if it was read earlier in the same iteration of the event loop', async (given) => {
  const { reader, writer } = given
  const cached = cacheUntilChanged(reader, countTurns(), count(reader))
  const arrived = await new Promise((resolve) => {
    // The callback of `stat` runs between this immediate and the next ones.
    setImmediate(() => {
      cached.get()
      stat(given.folder, () => {
        add(writer)
        resolve(cached.get().things)
      })
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ARRIVED)
    })
  })
  assert.is(arrived, 1)
})

test('is current after an await, even if it was read before it', async ({ reader, writer }) => {
  const cached = cacheUntilChanged(reader, countTurns(), count(reader))
  cached.get()
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
  add(writer)
  assert.is(cached.get().things, 1)
})

test.run()
