import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { connect, eventLogFormat } from '../../../../src/stores/sqlite/events/connection.ts'
import { createOrMigrate, UnreadableFile, type SqliteFileFormat } from '../../../../src/stores/sqlite/database-file.ts'
import { event, newStream } from '../../../contract/event-store/given.ts'
import { suiteOnFile } from './given.ts'

const test = suiteOnFile("the event log's file")

test('uses WAL and synchronous FULL on every connection', async ({ file, open }) => {
  const store = open()
  await store.append(newStream(), 'none', [event()])
  await store.close()
  for (let opening = 0; opening < 2; opening++) {
    const { db } = connect(file, eventLogFormat)
    assert.is(db.pragma('journal_mode', { simple: true }), 'wal')
    assert.is(db.pragma('synchronous', { simple: true }), 2)
    db.close()
  }
})

test('starts with LogCreated, which holds its identity', async ({ open }) => {
  const store = open()
  const [first] = await store.readStream('log')
  assert.equal([first?.type, first?.revision, first?.position.commit], ['LogCreated', 0n, 1n])
  assert.is(first?.data['identity'], await store.identity())
})

test('keeps its identity and its events when it is opened again', async ({ open }) => {
  const stream = newStream()
  const store = open()
  const position = await store.append(stream, 'none', [event(3)])
  const before = [await store.identity(), await store.readStream(stream)]
  await store.close()
  const reopened = open()
  assert.equal([await reopened.identity(), await reopened.readStream(stream)], before)
  assert.equal(await reopened.head(), position)
})

test('is one whole file after closing', async ({ file, open }) => {
  const store = open()
  const stream = newStream()
  await store.append(stream, 'none', [event()])
  await store.close()
  const db = new Database(file, { readonly: true, fileMustExist: true })
  assert.is(db.prepare('SELECT count(*) FROM events WHERE stream = ?').pluck().get(stream), 1)
  db.close()
})

test('is rejected and left unchanged if a newer release created it', async ({ file, open }) => {
  await open().close()
  alter(file, 'user_version = 9')
  assert.throws(
    () => open(),
    (error: unknown) => error instanceof UnreadableFile && /events.db.*version 9.*newer release/.test(error.message),
  )
  const db = new Database(file)
  assert.is(db.pragma('user_version', { simple: true }), 9)
  db.close()
})

test('is rejected if another program created it', async ({ file, open }) => {
  alter(file, 'application_id = 7', 'CREATE TABLE other (id)')
  assert.throws(
    () => open(),
    (error: unknown) => error instanceof UnreadableFile && /not an event log/.test(error.message),
  )
})

const first: SqliteFileFormat = {
  name: 'list',
  applicationId: 77,
  migrations: [(db) => void db.exec('CREATE TABLE list (a)')],
}
const second: SqliteFileFormat = {
  ...first,
  migrations: [...first.migrations, (db) => void db.exec('ALTER TABLE list ADD COLUMN b DEFAULT 2')],
}

test('is copied and then migrated if an older release created it', ({ file }) => {
  withFile(file, (db) => {
    db.pragma('journal_mode = WAL')
    createOrMigrate(db, first)
    db.exec('INSERT INTO list VALUES (1)')
    createOrMigrate(db, second)
    assert.equal(db.prepare('SELECT a, b FROM list').raw().all(), [[1, 2]])
    assert.is(db.pragma('user_version', { simple: true }), 2)
  })
  withFile(`${file}.version-1`, (copy) => {
    assert.equal(copy.prepare('SELECT * FROM list').raw().all(), [[1]])
    assert.is(copy.pragma('user_version', { simple: true }), 1)
    assert.is(copy.pragma('application_id', { simple: true }), 77)
  })
})

test('is left unchanged when its migration fails', ({ file }) => {
  withFile(file, (db) => {
    db.pragma('journal_mode = WAL')
    createOrMigrate(db, first)
    const failing = (migrated: Database.Database) =>
      void migrated.exec('DROP TABLE list; CREATE TABLE list2 (a); FAULT')
    assert.throws(() => createOrMigrate(db, { ...first, migrations: [...first.migrations, failing] }))
    assert.is(db.pragma('user_version', { simple: true }), 1)
    assert.equal(db.prepare('SELECT name FROM sqlite_schema').pluck().all(), ['list'])
  })
})

function withFile(file: string, work: (db: Database.Database) => void): void {
  const db = new Database(file)
  try {
    work(db)
  } finally {
    db.close()
  }
}

const alter = (file: string, pragma: string, sql = '') =>
  withFile(file, (db) => {
    db.exec(sql)
    db.pragma(pragma)
  })

test.run()
