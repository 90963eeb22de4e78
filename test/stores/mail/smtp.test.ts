import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openSmtp } from '../../../src/stores/mail/smtp.ts'
import { ServiceRefused, UndeliverableMail } from '../../../src/stores/ports/mail.ts'
import { openPostbox, SmtpRefusal } from '../../api/harness/postbox.ts'

const test = suite('a mail server')

const MAIL = {
  messageId: '<1@example.com>',
  date: new Date(0),
  from: 'no-reply@example.com',
  to: 'tom@example.com',
  subject: 'Subject',
  text: 'Text',
  html: '<p>Text</p>',
}

async function failureAt(address: string): Promise<Error> {
  const transport = openSmtp(address)
  try {
    await transport.send(MAIL)
  } catch (error) {
    return error as Error
  } finally {
    await transport.close()
  }
  throw new Error('the mail was sent')
}

test('whose certificate is not trusted is reported so, with the setting that trusts it', async () => {
  const server = new SMTPServer({ secure: true, authOptional: true })
  server.on('error', () => undefined)
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const { port } = listening.address() as AddressInfo
  try {
    const failure = await failureAt(`smtps://127.0.0.1:${port}`)
    assert.not.instance(failure, UndeliverableMail)
    assert.match(failure.message, /^SMTP ESOCKET: .*certificate/)
    assert.match(failure.message, 'NODE_EXTRA_CA_CERTS')
  } finally {
    await new Promise<void>((done) => server.close(() => done()))
  }
})

test('that does not accept connections is reported by the reason', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  const { message } = await failureAt(`smtp://127.0.0.1:${port}`)
  assert.is(message, `SMTP ESOCKET: connect ECONNREFUSED 127.0.0.1:${port}`)
})

test('that rejects a mail is reported by codes, without the address that its response repeats', async () => {
  const postbox = await openPostbox()
  try {
    for (const [code, isFinal] of [
      [450, false],
      [550, true],
    ] as const) {
      postbox.refuse.recipient = (address) => {
        throw new SmtpRefusal(code, `${String(code)[0]}.1.1 <sender+relay-${address}>: no such user`)
      }
      const failure = await failureAt(postbox.address)
      assert.is(failure instanceof UndeliverableMail, isFinal)
      assert.is(failure.message, `SMTP ${code} ${String(code)[0]}.1.1`)
    }
  } finally {
    await postbox.close()
  }
})

const REFUSALS: readonly (readonly [code: number, text: string, says: RegExp])[] = [
  [554, '5.7.1 <tom@example.com>: Relay access denied', /^SMTP 554 5\.7\.1: .* user and password in MAILER$/],
  [550, 'relay not permitted', /^SMTP 550: .* user and password in MAILER$/],
  [530, '5.7.0 Authentication required', /user and password in MAILER$/],
  [553, '5.7.1 Sender address rejected: not owned by user', /check MAIL_FROM/],
  [550, '5.1.8 Domain not found', /check MAIL_FROM/],
  [
    504,
    '5.5.2 <host>: Helo command rejected: need fully-qualified hostname',
    /append \?name=HOST\.EXAMPLE\.COM to MAILER/,
  ],
]

for (const [code, response, says] of REFUSALS) {
  test(`that refuses the service says what to mend, and the mail is not given up: ${code} ${response}`, async () => {
    const postbox = await openPostbox()
    postbox.refuse.recipient = () => {
      throw new SmtpRefusal(code, response)
    }
    try {
      const failure = await failureAt(postbox.address)
      assert.instance(failure, ServiceRefused)
      assert.match(failure.message, says)
      assert.not.match(failure.message, 'tom@')
    } finally {
      await postbox.close()
    }
  })
}

test('is greeted by the name of MAILER, after ?name=', async () => {
  const names: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onMailFrom(_address, { hostNameAppearsAs }, done) {
      names.push(hostNameAppearsAs)
      done(new SmtpRefusal(550, '5.7.1 no'))
    },
  })
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  try {
    const { port } = listening.address() as AddressInfo
    const failure = await failureAt(`smtp://127.0.0.1:${port}?name=host.example.com`)
    assert.match(failure.message, /^SMTP 550 5\.7\.1: the server refuses the sender/)
    assert.equal(names, ['host.example.com'])
  } finally {
    await new Promise<void>((done) => server.close(() => done()))
  }
})

test.run()
