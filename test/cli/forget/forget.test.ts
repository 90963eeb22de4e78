import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { expect, request } from '../../api/harness/request.ts'
import { newSender, shared } from '../../api/harness/secrets.ts'
import type { Service } from '../../api/harness/service.ts'
import { created } from '../../api/harness/stones.ts'
import { accountStream } from '../../../src/domain/account/account.ts'
import { legacyLoginStream } from '../../../src/commands/accounts/account-directory.ts'
import { toEventMetadata } from '../../../src/events/event-metadata.ts'
import { installationSuite, type TemporaryInstallation } from '../backup/temporary-installation.ts'

const test = installationSuite('a forgotten person')

const PASSWORD = 'right horse battery'

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
}

/** The files that contain a text in any case, plain or encoded as UTF-16, base64 or hex. */
function filesContaining(folder: string, text: string): string[] {
  const forms = [text, Buffer.from(text).toString('base64').slice(0, -4), Buffer.from(text).toString('hex')]
  return filesIn(folder).filter((path) => {
    const bytes = readFileSync(path)
    const plain = bytes.toString('latin1').toLowerCase()
    return forms.some((form) => plain.includes(form.toLowerCase())) || bytes.includes(Buffer.from(text, 'utf16le'))
  })
}

/** Runs commands that must succeed. @returns their results */
async function runAll(
  installation: TemporaryInstallation,
  ...commands: readonly (readonly string[])[]
): Promise<Record<string, unknown>[]> {
  const ended = await installation.commands.runInTurn(
    commands.map((words) => [...words, '--json']),
    { DATA_DIR: installation.dataDir },
  )
  return ended.map(({ code, out, err }) => {
    if (code !== 0) throw new Error(err)
    return JSON.parse(out) as Record<string, unknown>
  })
}

const addUser = (name: string) => ['user', 'add', `${name}@example.com`, '--password', PASSWORD]
const forgetUser = (account: unknown) => ['forget', 'user', String(account), '--yes']
const LIST = ['user', 'list']
const emailsIn = (listed: Record<string, unknown> | undefined) =>
  ((listed ?? {})['accounts'] as { email: string }[]).map(({ email }) => email)

/** Creates an account with an API token, a plan, a webhook and a secret with a recipient. */
async function createAccountWithData(installation: TemporaryInstallation, service: Service) {
  const sender = await newSender(service.installation)
  const { email, account } = sender
  const secret = await shared(service.url, sender, { secret: 'x', recipient: 'tom@elsewhere.example' })
  await runAll(
    installation,
    ['webhook', 'add', email, 'https://shop.example.com/stock'],
    ['user', 'plan', email, 'pro'],
  )
  return { email, account, secret, authorization: sender.authorization }
}

test('is in no file of DATA_DIR and of later backups', async ({ installation }) => {
  const service = await installation.serve()
  await created(service.ann)
  const { email, account, secret, authorization } = await createAccountWithData(installation, service)
  const { store, persons } = service.installation
  assert.ok(await persons.readPerson(account))
  // The address is readable before, so that the search below is meaningful.
  const plan = await installation.run(['user', 'list'])
  assert.match(plan.out, email)

  const forgotten = await installation.json(['forget', 'user', email, '--yes'])
  assert.equal(Object.keys(forgotten), ['account', 'events'])
  assert.is(forgotten['account'], account)
  assert.ok(Number(forgotten['events']) >= 5)

  assert.is(await persons.readPerson(account), undefined)
  const types = (await store.readStream(accountStream(account))).map(({ type }) => type)
  assert.equal(types.slice(-3), ['AccountDisabled', 'ApiTokenRevoked', 'AccountForgotten'])
  const check = { path: '/api/v1/authcheck', headers: { Authorization: authorization } }
  expect(401, await request(service.url, check))
  expect(404, await request(service.url, { method: 'POST', path: `/api/v1/secret/${secret.secret_key}` }))
  assert.match((await installation.run(['webhook', 'list'])).out, /"webhooks":\[\]/)
  const audited = await installation.run(['audit', 'secret', secret.metadata_key])
  assert.match(audited.out, 'because its owner was forgotten')
  for await (const item of service.installation.vault.contents()) assert.is(item.kind, 'receipt')
  await service.stop()
  await installation.json(['backup', installation.pathOf('backup')])
  assert.ok(filesIn(installation.dataDir).length > 3)
  assert.equal(filesContaining(installation.folder, email), [])
})

test('leaves an account that is listed by its number, and an address that can be registered again', async ({
  installation,
}) => {
  const [added, , listed, , other] = await runAll(
    installation,
    addUser('jane'),
    forgetUser('JANE@example.com'),
    LIST,
    ['audit', 'user', '1'],
    addUser('jane'),
  )
  const account = added?.['account']
  assert.equal(listed?.['accounts'], [
    { account, email: `account-${String(account)}`, plan: 'basic', status: 'forgotten' },
  ])
  assert.not.equal(other?.['account'], account)
  const [once, twice, byNumber, enabled, auditedByAddress, audited] = await installation.commands.runInTurn(
    [
      forgetUser('jane@example.com'),
      forgetUser('jane@example.com'),
      forgetUser(account),
      ['user', 'enable', 'jane@example.com'],
      ['audit', 'user', 'jane@example.com'],
      ['audit', 'user', '1', '--json'],
    ],
    { DATA_DIR: installation.dataDir },
  )
  assert.is(once?.code, 0)
  for (const refused of [twice, enabled, auditedByAddress]) {
    assert.is(refused?.code, 1)
    assert.match(refused?.err ?? '', /The account jane@example\.com was forgotten.* under its number/)
  }
  assert.match(byNumber?.err ?? '', `Account ${String(account)} was forgotten before`)
  const entries = JSON.parse(audited?.out ?? '') as { type: string; detail?: string; changes: { field: string }[] }[]
  assert.is(entries.find(({ type }) => type === 'forgotten')?.detail, 'its e-mail address was deleted')
  const fields = new Set(entries.flatMap(({ changes }) => changes.map(({ field }) => field)))
  assert.not.ok(fields.has('email'), 'a number is not shown as an address')
})

test('is forgotten only after --yes', async ({ installation }) => {
  await runAll(installation, addUser('jane'))
  const unconfirmed = await installation.run(['forget', 'user', 'jane@example.com'])
  assert.is(unconfirmed.code, 2)
  assert.match(unconfirmed.err, /--yes/)
  assert.equal(emailsIn((await runAll(installation, LIST))[0]), ['jane@example.com'])
})

test('stays forgotten if an older backup replaces the installation, and returns if it is restored elsewhere', async ({
  installation,
}) => {
  await runAll(
    installation,
    addUser('jane'),
    addUser('tom'),
    addUser('kim'),
    forgetUser('kim@example.com'),
    ['backup', installation.pathOf('backup')],
    forgetUser('jane@example.com'),
    addUser('later'),
  )
  const [, back, , after] = await runAll(
    installation,
    // The restored log has the account as it was; it can be forgotten again by its number.
    ['restore', installation.pathOf('backup'), '--replace'],
    LIST,
    forgetUser(1),
    LIST,
  )
  assert.equal(emailsIn(back), ['account-1', 'tom@example.com', 'account-3'])
  assert.equal(after?.['accounts'], [
    { account: 1, email: 'account-1', plan: 'basic', status: 'forgotten' },
    { account: 2, email: 'tom@example.com', plan: 'basic', status: 'enabled' },
    { account: 3, email: 'account-3', plan: 'basic', status: 'forgotten' },
  ])
  const otherSettings = { DATA_DIR: installation.pathOf('elsewhere'), MASTER_KEY: installation.masterKey() }
  await installation.json(['restore', installation.pathOf('backup')], otherSettings)
  assert.equal(emailsIn(await installation.json(LIST, otherSettings)), [
    'jane@example.com',
    'tom@example.com',
    'account-3',
  ])
})

test('stays forgotten in a moved installation and in a replay', async ({ installation }) => {
  await runAll(installation, addUser('jane'), addUser('tom'), forgetUser('jane@example.com'))
  await runAll(
    installation,
    ['replay', '--until', new Date().toISOString(), '--into', installation.pathOf('then')],
    ['move', '--yes', '--from', `sqlite:${installation.dataDir}`, '--to', `sqlite:${installation.pathOf('there')}`],
  )
  for (const folder of ['then', 'there']) {
    const listed = await installation.json(LIST, { DATA_DIR: installation.pathOf(folder) })
    assert.equal(emailsIn(listed), ['account-1', 'tom@example.com'])
  }
})

test('whose address an older release wrote into the log is forgotten, with a warning that the address remains there', async ({
  installation,
}) => {
  const service = await installation.serve()
  const { store, context } = service.installation
  const email = 'old@example.com'
  const first = (type: string, data: object) => [
    {
      id: crypto.randomUUID(),
      type,
      data: { ...data },
      metadata: toEventMetadata({ actor: 'operator', via: 'cli', correlation: 'old' }, context.clock(), '1'),
    },
  ]
  await store.append(legacyLoginStream(email), 'none', first('LoginReserved', { account: 77, email }))
  const registered = first('AccountRegistered', { email, password: 'hash', plan: 'basic' })
  await store.append(accountStream(77), 'none', registered)
  const { code, err } = await installation.run(['forget', 'user', email, '--yes'])
  assert.is(code, 0, err)
  assert.match(
    err,
    /wrote this address into the event log in plain text, in login-[0-9a-f]{64} and account-77\. .* it remains there/,
  )
  assert.match(
    (await installation.run(['user', 'list'])).out,
    /"email":"account-77","plan":"basic","status":"forgotten"/,
  )
})

test.run()
