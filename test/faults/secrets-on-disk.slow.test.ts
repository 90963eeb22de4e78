import Database from 'better-sqlite3'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { openMasterKeys } from '../../src/credentials/master-keys.ts'
import { MasterSeal } from '../../src/credentials/sealing.ts'
import { openPostbox, SmtpRefusal } from '../api/harness/postbox.ts'
import { expect, request } from '../api/harness/request.ts'
import { isUnknown, post, reveal, shared, shownIn, type Sender, type Shown } from '../api/harness/secrets.ts'
import { senderIn } from './accounts-in-folder.ts'
import { startServer, type ServerProcess } from './server-process.ts'
import { retryIfRenamed } from '../renamed-files.ts'
import { until } from '../until.ts'

const test = suite('what the service writes down')

/** Whatever is told to it and must not be found: values, passphrases, recipients; and what it gives out. */
type Marked = { readonly name: string; readonly text: string }
type Set = { readonly shown: Shown; readonly marks: readonly Marked[]; readonly passphrase: string }

const PLAN = ['read', 'burned', 'expired', 'read with a passphrase', 'burned with a passphrase'] as const

async function shareMarked({ url }: ServerProcess, ann: Sender, name: string, ttl: string): Promise<Set> {
  const passphrase = name.includes('passphrase') ? `Passphrase-zebra-${name}` : ''
  const recipient = `recipient-zebra-${name.replaceAll(' ', '-')}@mail-zebra.example`
  const value = `value-zebra-${name} ünï 💎`
  const shown = await shared(url, ann, { secret: value, passphrase, ttl, recipient, notify: 'true' })
  const marks = [
    { name: `value of ${name}`, text: value },
    { name: `passphrase of ${name}`, text: passphrase },
    { name: `recipient of ${name}`, text: recipient },
    { name: `secret key of ${name}`, text: shown.secret_key },
    { name: `metadata key of ${name}`, text: shown.metadata_key },
  ]
  return { shown, marks: marks.filter(({ text }) => text !== ''), passphrase }
}

/** A text as it might be written: as it is, escaped, or in some encoding. */
function spellings(text: string): Buffer[] {
  const bytes = Buffer.from(text)
  const ascii = JSON.stringify(text).slice(1, -1)
  const texts = [
    text,
    ascii,
    encodeURIComponent(text),
    bytes.toString('hex'),
    new URLSearchParams({ text }).toString().slice(5),
  ]
  // In base64 a text inside a longer one depends on where it begins: three thirds of it are the same for each.
  for (const shift of [0, 1, 2])
    texts.push(
      bytes
        .subarray(shift, shift + 18)
        .toString('base64')
        .slice(0, 20),
    )
  return [...texts.map((one) => Buffer.from(one)), Buffer.from(text, 'utf16le')]
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
}

function found(folder: string, said: string, marks: readonly Marked[]): string[] {
  const places = [
    ...retryIfRenamed(() => filesIn(folder).map((path) => ({ path, bytes: readFileSync(path) }))),
    { path: 'its log', bytes: Buffer.from(said) },
  ]
  return marks.flatMap(({ name, text }) => {
    const needles = spellings(text)
    return places
      .filter(({ bytes }) => needles.some((needle) => bytes.includes(needle)))
      .map(({ path }) => `${name} in ${path}`)
  })
}

const rows = (dataDir: string, query: string): Buffer[] => {
  const db = new Database(join(dataDir, 'vault.db'), { readonly: true })
  const sealed = db.prepare<[], Buffer>(query).pluck().all()
  db.close()
  return sealed
}

test('holds nothing that opens a secret, and when it has ended nothing of it at all', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-search-'))
  const [dataDir, temporary] = [join(folder, 'data'), join(folder, 'tmp')]
  mkdirSync(temporary)
  const ann = await senderIn(dataDir)
  const postbox = await openPostbox()
  postbox.refuse.message = () => {
    throw new SmtpRefusal(451, '4.3.0 later')
  }
  const settings = { MAILER: postbox.address, TMPDIR: temporary, SQLITE_TMPDIR: temporary }
  const server = await startServer(dataDir, settings)
  const search = (marks: readonly Marked[]) => found(folder, server.said(), marks)
  const sets = new Map<string, Set>()
  for (const name of PLAN) sets.set(name, await shareMarked(server, ann, name, name === 'expired' ? '60' : '2592000'))
  const marks = [...sets.values()].flatMap((set) => set.marks)
  const token = [{ name: 'API token', text: ann.token }]

  // The search does find what is there, and nobody's address is.
  assert.ok(search([{ name: 'type', text: 'SecretShared' }]).length > 0)
  assert.equal(search([{ name: 'address', text: ann.email }]), [])
  // While they wait, and their mails too.
  assert.equal(search([...marks, ...token]), [])
  const sealed = rows(dataDir, 'SELECT sealed FROM entries')
  const mails = rows(dataDir, 'SELECT sealed FROM mails')
  assert.is(sealed.length, PLAN.length)
  checkMasterKey(dataDir, marks)

  // The mails go out, a wrong passphrase is tried, the list is read.
  postbox.refuse.message = () => undefined
  await until('the mails', () => postbox.accepted.length === PLAN.length)
  for (const { shown, passphrase } of sets.values())
    if (passphrase !== '') isUnknown(await reveal(server.url, shown.secret_key, 'Wrong-zebra-guess'), shown.secret_key)
  expect(
    200,
    await request(server.url, { path: '/api/v1/private/recent', headers: { Authorization: ann.authorization } }),
  )
  assert.equal(search([...marks, ...token, { name: 'guess', text: 'Wrong-zebra-guess' }]), [])

  // They end, each in its way.
  await endAll(server, ann, sets)
  server.jump()
  const gone = () => rows(dataDir, 'SELECT sealed FROM entries').length === 0
  await until('the vault to be empty', gone)
  const everything = [...sealed, ...mails]
  const left = () => {
    const contents = filesIn(folder).map((path) => readFileSync(path))
    return everything.filter((blob) => contents.some((bytes) => bytes.includes(blob.subarray(-32))))
  }
  await until('the ciphertext to be gone from every file', () => left().length === 0)
  assert.equal(search([...marks, ...token]), [])
  for (const { shown } of sets.values())
    isUnknown(await post(server.url, `secret/${shown.secret_key}`), shown.secret_key)
  for (const mail of postbox.accepted) checkMail(String(mail.text) + String(mail.html), marks)
  assert.is(await server.stop(), 0)
  assert.equal(search([...marks, ...token]), [])
  await postbox.close()
  rmSync(folder, { recursive: true, force: true })
})

async function endAll(server: ServerProcess, ann: Sender, sets: ReadonlyMap<string, Set>): Promise<void> {
  for (const [name, { shown, passphrase }] of sets) {
    if (name.startsWith('read')) {
      assert.match(shownIn(await reveal(server.url, shown.secret_key, passphrase)).value, /^value-zebra-read/)
    }
    const headers = { Authorization: ann.authorization }
    if (name.startsWith('burned')) expect(200, await post(server.url, `private/${shown.metadata_key}/burn`, headers))
  }
}

/** Who has the disk and the master key opens the outer layer, and finds nothing of any use in it. */
function checkMasterKey(dataDir: string, marks: readonly Marked[]): void {
  const seal = new MasterSeal(openMasterKeys({ dataDir, masterKey: undefined, masterKeyOld: undefined }), 'vault')
  const db = new Database(join(dataDir, 'vault.db'), { readonly: true })
  for (const { digest, sealed } of db
    .prepare<[], { digest: string; sealed: Buffer }>('SELECT digest, sealed FROM entries')
    .all()) {
    const inner = seal.open(sealed, digest)
    for (const { name, text } of marks) assert.not.ok(inner.includes(Buffer.from(text)), `${name} inside the vault`)
  }
  db.close()
}

/** A mail holds its recipient's link, and nothing else. */
function checkMail(text: string, marks: readonly Marked[]): void {
  const held = marks.filter((mark) => text.includes(mark.text)).map(({ name }) => name)
  assert.ok(held.length <= 1 && held.every((name) => name.startsWith('secret key')), held.join(', '))
}

test.run()
