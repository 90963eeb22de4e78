import Database from 'better-sqlite3'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import { openSqliteVault } from '../../../src/stores/sqlite/vault.ts'
import { rejectedWith } from '../../contract/event-store/given.ts'
import { vaultContract } from '../../contract/vault.ts'

const folders: string[] = []
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-vault-'))
  folders.push(folder)
  return folder
}
process.on('exit', () => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

vaultContract('the embedded vault', async () => openSqliteVault(join(newFolder(), 'vault.db')))

const test = suite('the vault file')
const entryOf = (digest: string) => ({ digest, sealed: randomBytes(300), createdAt: 1, expiresAt: 2, receipt: null })
const holds = (folder: string, bytes: Buffer) =>
  readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes(bytes))

test('contains no byte of deleted entries after shredding, in any of its files', async () => {
  const folder = newFolder()
  const vault = openSqliteVault(join(folder, 'vault.db'))
  const [deleted, kept] = [entryOf('gone'), entryOf('kept')]
  const mail = { kind: 'link' as const, sealed: randomBytes(200), dueAt: 1 }
  await vault.put(deleted, [mail])
  await vault.put(kept, [])
  assert.ok(holds(folder, deleted.sealed) && holds(folder, mail.sealed))
  await vault.end([{ digest: 'gone' }])
  assert.ok(await vault.shred())
  assert.not.ok(holds(folder, deleted.sealed))
  assert.not.ok(holds(folder, mail.sealed))
  assert.ok(holds(folder, kept.sealed))
  await vault.close()
})

test("shows each of two processes the other's changes", async () => {
  const file = join(newFolder(), 'vault.db')
  const [one, other] = [openSqliteVault(file), openSqliteVault(file)]
  const put = entryOf('a')
  await one.put(put, [])
  assert.equal(await other.readSecret('a'), put.sealed)
  await Promise.all([...Array(50).keys()].map((n) => (n % 2 ? one : other).put(entryOf(`n${n}`), [])))
  await other.end([{ digest: 'a' }])
  assert.is(await one.readSecret('a'), undefined)
  await one.close()
  await other.close()
})

/** A deferred foreign key, which fails at the commit. */
const FAILING_COMMIT = `
  CREATE TABLE parent (id INTEGER PRIMARY KEY);
  CREATE TABLE child (id REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);
  CREATE TRIGGER failing AFTER INSERT ON entries BEGIN INSERT INTO child VALUES (1); END`

test('reports a change whose commit failed as not made, and continues with a new connection', async () => {
  const file = join(newFolder(), 'vault.db')
  const vault = openSqliteVault(file)
  const other = new Database(file)
  other.exec(FAILING_COMMIT)
  await rejectedWith(StoreUnavailable, vault.put(entryOf('a'), []))
  assert.is(await vault.readSecret('a'), undefined)
  other.exec('DROP TRIGGER failing')
  other.close()
  const put = entryOf('b')
  await vault.put(put, [])
  assert.equal(await vault.readSecret('b'), put.sealed)
  await vault.close()
})

test('is rejected if a newer release or another program created it', () => {
  const file = join(newFolder(), 'vault.db')
  void openSqliteVault(file).close()
  const db = new Database(file)
  db.pragma('user_version = 99')
  assert.throws(() => openSqliteVault(file), /created by a newer release/)
  db.pragma('application_id = 1')
  db.close()
  assert.throws(() => openSqliteVault(file), /is not an? vault of Adamant/)
})

test('waits for a transaction of another process', async () => {
  const file = join(newFolder(), 'vault.db')
  const vault = openSqliteVault(file)
  const filler = new Database(file)
  filler.exec('BEGIN IMMEDIATE')
  const busy = vault.put(entryOf('later'), [])
  filler.exec('COMMIT')
  filler.close()
  await busy
  assert.ok(await vault.readSecret('later'))
  await vault.close()
})

test.run()
