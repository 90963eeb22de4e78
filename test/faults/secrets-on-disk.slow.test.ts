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
import { expectUnknownSecret, post, reveal, shared, shownIn, type Sender, type Shown } from '../api/harness/secrets.ts'
import { senderIn } from './accounts-in-folder.ts'
import { startServer, type ServerProcess } from './server-process.ts'
import { retryIfRenamed } from '../renamed-files.ts'
import { until } from '../until.ts'

const test = suite('the data of the service')

/** A text that must not be found: a value, passphrase or recipient that a client sent, or a key that the service returned. */
type MarkedText = { readonly name: string; readonly text: string }
type MarkedSecret = { readonly shown: Shown; readonly marks: readonly MarkedText[]; readonly passphrase: string }

const PLAN = ['read', 'burned', 'expired', 'read with a passphrase', 'burned with a passphrase'] as const

async function shareMarked({ url }: ServerProcess, ann: Sender, name: string, ttl: string): Promise<MarkedSecret> {
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

/** The forms in which a text might be stored: plain, escaped or encoded. */
function encodings(text: string): Buffer[] {
  const bytes = Buffer.from(text)
  const ascii = JSON.stringify(text).slice(1, -1)
  const texts = [
    text,
    ascii,
    encodeURIComponent(text),
    bytes.toString('hex'),
    new URLSearchParams({ text }).toString().slice(5),
  ]
  // The base64 form of a text inside a longer one depends on its offset modulo 3.
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

function findMarked(folder: string, output: string, marks: readonly MarkedText[]): string[] {
  const sources = [
    ...retryIfRenamed(() => filesIn(folder).map((path) => ({ path, bytes: readFileSync(path) }))),
    { path: 'its log', bytes: Buffer.from(output) },
  ]
  return marks.flatMap(({ name, text }) => {
    const needles = encodings(text)
    return sources
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

test('contains nothing that opens a secret, and no ciphertext after the secret has ended', async () => {
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
  const search = (marks: readonly MarkedText[]) => findMarked(folder, server.output(), marks)
  const secrets = new Map<string, MarkedSecret>()
  for (const name of PLAN)
    secrets.set(name, await shareMarked(server, ann, name, name === 'expired' ? '60' : '2592000'))
  const marks = [...secrets.values()].flatMap((secret) => secret.marks)
  const token = [{ name: 'API token', text: ann.token }]

  // The search works, and no account's address is stored as plain text.
  assert.ok(search([{ name: 'type', text: 'SecretShared' }]).length > 0)
  assert.equal(search([{ name: 'address', text: ann.email }]), [])
  // While the secrets and their mails are waiting:
  assert.equal(search([...marks, ...token]), [])
  const sealed = rows(dataDir, 'SELECT sealed FROM entries')
  const mails = rows(dataDir, 'SELECT sealed FROM mails')
  assert.is(sealed.length, PLAN.length)
  checkMasterKey(dataDir, marks)

  // After the mails are sent, a wrong passphrase was tried and the list was read:
  postbox.refuse.message = () => undefined
  await until('the mails', () => postbox.accepted.length === PLAN.length)
  for (const { shown, passphrase } of secrets.values())
    if (passphrase !== '')
      expectUnknownSecret(await reveal(server.url, shown.secret_key, 'Wrong-zebra-guess'), shown.secret_key)
  expect(
    200,
    await request(server.url, { path: '/api/v1/private/recent', headers: { Authorization: ann.authorization } }),
  )
  assert.equal(search([...marks, ...token, { name: 'guess', text: 'Wrong-zebra-guess' }]), [])

  // After all secrets were read, burned or expired:
  await endAll(server, ann, secrets)
  server.jump()
  const isEmpty = () => rows(dataDir, 'SELECT sealed FROM entries').length === 0
  await until('the vault to be empty', isEmpty)
  const ciphertexts = [...sealed, ...mails]
  const remainingCiphertexts = () => {
    const contents = filesIn(folder).map((path) => readFileSync(path))
    return ciphertexts.filter((blob) => contents.some((bytes) => bytes.includes(blob.subarray(-32))))
  }
  await until('the ciphertext to be removed from every file', () => remainingCiphertexts().length === 0)
  assert.equal(search([...marks, ...token]), [])
  for (const { shown } of secrets.values())
    expectUnknownSecret(await post(server.url, `secret/${shown.secret_key}`), shown.secret_key)
  for (const mail of postbox.accepted) checkMail(String(mail.text) + String(mail.html), marks)
  assert.is(await server.stop(), 0)
  assert.equal(search([...marks, ...token]), [])
  await postbox.close()
  rmSync(folder, { recursive: true, force: true })
})

async function endAll(server: ServerProcess, ann: Sender, secrets: ReadonlyMap<string, MarkedSecret>): Promise<void> {
  for (const [name, { shown, passphrase }] of secrets) {
    if (name.startsWith('read')) {
      assert.match(shownIn(await reveal(server.url, shown.secret_key, passphrase)).value, /^value-zebra-read/)
    }
    const headers = { Authorization: ann.authorization }
    if (name.startsWith('burned')) expect(200, await post(server.url, `private/${shown.metadata_key}/burn`, headers))
  }
}

/** Asserts that the master key only opens the outer encryption layer, which contains no marked text. */
function checkMasterKey(dataDir: string, marks: readonly MarkedText[]): void {
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

/** Asserts that a mail contains no other marked text than its recipient's link. */
function checkMail(text: string, marks: readonly MarkedText[]): void {
  const contained = marks.filter((mark) => text.includes(mark.text)).map(({ name }) => name)
  assert.ok(contained.length <= 1 && contained.every((name) => name.startsWith('secret key')), contained.join(', '))
}

test.run()
