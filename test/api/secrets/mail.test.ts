import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { simpleParser } from 'mailparser'
import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { openPostbox, SmtpRefusal, type Postbox } from '../harness/postbox.ts'
import { expect, request } from '../harness/request.ts'
import { form, newSender, post, expectError, shared, shownIn, type Sender, type Shown } from '../harness/secrets.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from '../harness/service.ts'
import { createLogger } from '../../../src/runtime/logger.ts'
import { parseSecretKeyDigest, secretStream } from '../../../src/credentials/secret-keys.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { appendTo } from '../../projections/engine/poison-events.ts'
import { until } from '../../until.ts'

type Given = { postbox: Postbox; service: Service; url: string; ann: Sender }
const test = suite<Given>('a mail')
const SETTINGS = { SECRETS_URL: 'https://secrets.example.com/', MAIL_FROM: 'Adamant <no-reply@example.com>' }

test.before.each(async (given) => {
  given.postbox = await openPostbox()
  given.service = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings: { ...SETTINGS, MAILER: given.postbox.address },
  })
  given.url = given.service.url
  given.ann = await newSender(given.service.installation)
})
test.after.each(async ({ service, postbox }) => {
  await service.stop()
  await postbox.close()
})

const eventsOf = ({ service }: Given, { secret_key }: Shown) =>
  service.installation.store.readStream(secretStream(parseSecretKeyDigest(secret_key) ?? ''))
const untilRecorded = (given: Given, secret: Shown, type: string) =>
  until(type, async () => (await eventsOf(given, secret)).some((event) => event.type === type))

test('contains the link, in text and HTML, and not the secret', async (given) => {
  const { postbox, url, ann } = given
  const secret = await shared(url, ann, {
    secret: 'hidden value',
    recipient: 'tom@myspace.example',
    passphrase: 'pass',
  })
  assert.equal(secret['recipient'], ['to*****@m*****.example'])
  assert.is(secret['mail_status'], 'waiting')
  await untilRecorded(given, secret, 'MailSent')
  const [mail, ...others] = postbox.accepted
  assert.is(others.length, 0)
  assert.is(mail?.to && 'text' in mail.to ? mail.to.text : '', 'tom@myspace.example')
  assert.is(mail?.from?.text, '"Adamant" <no-reply@example.com>')
  assert.is(mail?.subject, `${ann.email} sent you a secret`)
  assert.match(mail?.messageId ?? '', /^<[0-9a-f]{32}@example.com>$/)
  assert.is(mail?.headers.get('auto-submitted'), 'auto-generated')
  const link = `https://secrets.example.com/secret/${secret.secret_key}`
  for (const part of [mail?.text ?? '', mail?.html || '']) {
    assert.ok(part.includes(link))
    assert.ok(part.includes('passphrase'))
    for (const hidden of ['hidden value', secret.metadata_key, '"pass"']) assert.not.ok(part.includes(hidden))
  }
})

test('notifies the owner that a secret was read, if requested', async (given) => {
  const { postbox, url, ann } = given
  const secret = await shared(url, ann, { secret: 'hidden value', notify: 'true' })
  const silent = await shared(url, ann, { secret: 'hidden value' })
  assert.is(postbox.accepted.length, 0)
  for (const { secret_key } of [silent, secret]) expect(200, await post(url, `secret/${secret_key}`))
  await untilRecorded(given, secret, 'MailSent')
  const [mail, ...others] = postbox.accepted
  assert.is(others.length, 0)
  assert.is(mail?.to && 'text' in mail.to ? mail.to.text : '', ann.email)
  assert.match(mail?.text ?? '', /was read on \d{4}-\d\d-\d\d \d\d:\d\d UTC/)
  for (const hidden of ['hidden value', secret.secret_key]) assert.not.ok(mail?.text?.includes(hidden))
})

test('is not sent for a burned secret', async (given) => {
  const { postbox, url, ann } = given
  const burned = await shared(url, ann, { secret: 'x', notify: '1' })
  expect(200, await post(url, `private/${burned.metadata_key}/burn`))
  const read = await shared(url, ann, { secret: 'x', notify: '1' })
  expect(200, await post(url, `secret/${read.secret_key}`))
  await untilRecorded(given, read, 'MailSent')
  assert.is(postbox.accepted.length, 1)
})

test('that is rejected permanently is recorded without the address', async (given) => {
  const { postbox, url, ann } = given
  postbox.refuse.recipient = (address) => {
    throw new SmtpRefusal(550, `5.1.1 <${address}>: no such user`)
  }
  const secret = await shared(url, ann, { secret: 'x', recipient: 'nobody.atall@example.com' })
  await untilRecorded(given, secret, 'MailRefused')
  const refusal = (await eventsOf(given, secret)).find(({ type }) => type === 'MailRefused')
  assert.is(refusal?.data['reason'], 'SMTP 550 5.1.1')
  for (const { data } of await eventsOf(given, secret)) assert.not.ok(JSON.stringify(data).includes('atall'))
  assert.is(shownIn(await post(url, `secret/${secret.secret_key}`)).value, 'x')
  const metrics = expect(200, await given.service.send({ path: '/metrics' })).text
  assert.match(metrics, 'adamant_mails_total{outcome="refused"} 1')
})

test('that is rejected permanently is logged with the code and without the address', async ({ postbox }) => {
  postbox.refuse.recipient = (address) => {
    throw new SmtpRefusal(550, `5.1.1 <${address}>: no such user`)
  }
  const lines: string[] = []
  const log = createLogger('warn', { write: (line) => void lines.push(line) })
  const service = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings: { ...SETTINGS, MAILER: postbox.address },
    installation: (installation) => ({ ...installation, log }),
  })
  try {
    const sender = await newSender(service.installation)
    await shared(service.url, sender, { secret: 'x', recipient: 'nobody.atall@example.com' })
    await until('a line in the log', () => lines.some((line) => line.includes('refused a mail')))
    const line = lines.find((one) => one.includes('refused a mail')) ?? ''
    assert.match(line, '"reason":"SMTP 550 5.1.1"')
    assert.not.match(line, 'atall')
  } finally {
    await service.stop()
  }
})

test('that the server refuses because of the configuration waits until it is mended, counted and logged', async (given) => {
  const { postbox, url, ann } = given
  postbox.refuse.recipient = () => {
    throw new SmtpRefusal(554, '5.7.1 Relay access denied')
  }
  const secret = await shared(url, ann, { secret: 'x', recipient: 'tom@example.com' })
  const metrics = async () => expect(200, await given.service.send({ path: '/metrics' })).text
  await until('an attempt', async () => (await metrics()).includes('adamant_mails_total{outcome="misconfigured"} 1'))
  assert.is(shownIn(await post(url, `private/${secret.metadata_key}`)).mail_status, 'waiting')
  postbox.refuse.recipient = () => undefined
  await untilRecorded(given, secret, 'MailSent')
  assert.is(postbox.accepted.length, 1)
})

test('that is rejected temporarily is retried with the same Message-ID and sent once', async (given) => {
  const { postbox, url, ann } = given
  const tried: (string | undefined)[] = []
  postbox.refuse.message = ({ messageId }) => {
    if (tried.push(messageId) < 2) throw new SmtpRefusal(451, 'try again later')
  }
  const secret = await shared(url, ann, { secret: 'x', recipient: 'tom@example.com' })
  await untilRecorded(given, secret, 'MailSent')
  assert.is(tried.length, 2)
  assert.is(tried[0], tried[1])
  assert.is(postbox.accepted.length, 1)
})

test('is not sent if its secret ends before the mail server accepts it', async (given) => {
  const { postbox, url, ann } = given
  postbox.refuse.message = () => {
    throw new SmtpRefusal(451, 'try again later')
  }
  const secret = await shared(url, ann, { secret: 'x', recipient: 'tom@example.com' })
  expect(200, await post(url, `private/${secret.metadata_key}/burn`))
  const isQueueEmpty = async () => (await given.service.installation.vault.nextMail()) === undefined
  await until('the mail to leave the queue', isQueueEmpty)
  assert.is(postbox.accepted.length, 0)
})

test('is sent to each of several recipients, up to the limit of the plan, and its status is shown to the sender', async (given) => {
  const { postbox, url, service } = given
  const pro = await newSender(service.installation, 'pro')
  const refuse = { now: true }
  postbox.refuse.message = ({ to }) => {
    if (refuse.now && JSON.stringify(to).includes('second')) throw new SmtpRefusal(451, 'try again later')
  }
  const body = 'secret=x&recipient[]=first@example.com&recipient[]=second@example.com&recipient[]=third@example.com'
  const secret = shownIn(await request(url, form('/api/v1/share', body, pro.authorization)))
  await until('two mails', () => postbox.accepted.length === 2)
  const status = async () => shownIn(await post(url, `private/${secret.metadata_key}`))['mail_status']
  assert.is(await status(), 'waiting')
  refuse.now = false
  await until('the third mail', async () => (await status()) === 'sent')
  const to = postbox.accepted.map((mail) => (mail.to && 'text' in mail.to ? mail.to.text : ''))
  assert.equal(to.toSorted(), ['first@example.com', 'second@example.com', 'third@example.com'])
  assert.is(new Set(postbox.accepted.map(({ messageId }) => messageId)).size, 3)
})

test('that is rejected permanently is shown as refused to its sender', async (given) => {
  const { postbox, url, ann } = given
  postbox.refuse.message = () => {
    throw new SmtpRefusal(550, 'no such user')
  }
  const secret = await shared(url, ann, { secret: 'x', recipient: 'tom@example.com' })
  await untilRecorded(given, secret, 'MailRefused')
  assert.is(shownIn(await post(url, `private/${secret.metadata_key}`))['mail_status'], 'refused')
  const page = await request(url, { path: `/private/${secret.metadata_key}` })
  assert.match(page.text, /rejected by the recipient.s mail server/)
})

test('is sent to the address of a recipient with a display name', async ({ url, ann, postbox }) => {
  const before = postbox.accepted.length
  const secret = await shared(url, ann, { secret: 'x', recipient: '"Myers, Tom" <tom@myspace.example>' })
  assert.equal(secret['recipient'], ['to*****@m*****.example'])
  await until('the mail', () => postbox.accepted.length > before)
  const mail = postbox.accepted.at(-1)
  assert.is(mail?.to && 'text' in mail.to ? mail.to.text : '', 'tom@myspace.example')
})

test('is rejected for an invalid address', async ({ url, ann }) => {
  for (const recipient of ['nobody', 'a@b, c@d', 'a@b\nBcc: c@d', 'Tom <a@b>, Ann <c@d>', '<a@b> <c@d>']) {
    const body = new URLSearchParams({ secret: 'x', recipient }).toString()
    const message = `Undeliverable email address: ${recipient}`
    expectError(await request(url, form('/api/v1/share', body, ann.authorization)), 422, message)
  }
})

test('of a fenced installation waits until the installation is opened again', async ({ postbox }) => {
  const fence = { fenced: false, checks: 0 }
  const closed = async () => {
    fence.checks++
    return fence.fenced ? ({ why: 'fenced', copy: 'c', to: 'elsewhere' } as const) : undefined
  }
  const service = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings: { ...SETTINGS, MAILER: postbox.address },
    store: (store) => ({ ...store, closedReason: closed }),
  })
  try {
    fence.fenced = true
    const sender = await newSender(service.installation)
    await shared(service.url, sender, { secret: 'x', recipient: 'tom@myspace.example' })
    const checks = fence.checks
    await until('several attempts of the mailer', () => fence.checks > checks + 20)
    assert.is(postbox.accepted.length, 0)
    fence.fenced = false
    await until('the mail', () => postbox.accepted.length === 1)
  } finally {
    await service.stop()
  }
})

test('whose secret can no longer be decoded does not delay other mails', async ({ postbox }) => {
  // As many mails as are sent concurrently: an event of a later release is appended before the record of each.
  let left = 4
  const overtaken = (store: EventStore): EventStore => ({
    ...store,
    async append(stream, expected, events) {
      if (events.some(({ type }) => type === 'MailSent') && left-- > 0) {
        await appendTo(store, stream, { type: 'SecretForwarded', data: {} })
      }
      return store.append(stream, expected, events)
    },
  })
  const service = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings: { ...SETTINGS, MAILER: postbox.address },
    store: overtaken,
  })
  try {
    const sender = await newSender(service.installation)
    const share = (to: string) => shared(service.url, sender, { secret: 'x', recipient: `${to}@example.com` })
    for (const to of ['a', 'b', 'c', 'd']) await share(to)
    await until('four mails', () => left <= 0)
    const last = await share('e')
    const stream = secretStream(parseSecretKeyDigest(last.secret_key) ?? '')
    await until(
      'the record of the fifth mail',
      async () => (await service.installation.store.readStream(stream)).length > 1,
    )
  } finally {
    await service.stop()
  }
})

test.run()

const outbox = suite('the outbox for development')

outbox('contains each mail as an .eml file until its secret ends', async () => {
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, settings: { MAILER: 'outbox' } })
  const ann = await newSender(service.installation)
  const secret = await shared(service.url, ann, { secret: 'x', recipient: 'jürgen@bücher.example' })
  const folder = join(service.dataDir, 'outbox')
  const files = () => {
    try {
      return readdirSync(folder).filter((name) => name.endsWith('.eml'))
    } catch {
      return []
    }
  }
  await until('the file', () => files().length > 0)
  const mail = await simpleParser(readFileSync(join(folder, files()[0] ?? '')))
  assert.ok(mail.text?.includes(`${service.url}/secret/${secret.secret_key}`))
  assert.ok(mail.html && mail.html.includes(secret.secret_key))
  expect(200, await post(service.url, `secret/${secret.secret_key}`))
  await until('the deletion of the file', () => files().length === 0)
  await service.stop()
})

outbox.run()
