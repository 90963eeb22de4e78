import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ApiTokenVerifier } from '../../../src/commands/accounts/api-tokens.ts'
import { RequestError } from '../../../src/domain/request-error.ts'
import { ann, openProcess } from '../../commands/accounts-on-disk.ts'
import { passwordGrant, withTokenServer, type TokenServer } from './token-server.ts'

const test = suite('the limit of failed log-ins')

const from = (address: string) => ({ 'x-forwarded-for': address })
const wrongPassword = { ...passwordGrant, password: 'wrong' }

async function statuses(count: number, send: (index: number) => ReturnType<TokenServer['post']>): Promise<number[]> {
  const found: number[] = []
  for (let index = 0; index < count; index++) found.push((await send(index)).status)
  return found
}

test('applies from the 6th failed log-in at an address, and not at other addresses', () =>
  withTokenServer(
    async ({ post }) => {
      assert.equal(await statuses(7, () => post('token', wrongPassword, from('192.0.2.1'))), [
        ...Array(5).fill(400),
        429,
        429,
      ])
      assert.is((await post('token', passwordGrant, from('192.0.2.1'))).status, 429)
      assert.is((await post('token', passwordGrant, from('192.0.2.2'))).status, 200)
    },
    { proxied: true, cheap: true },
  ))

test('counts an IPv6 /64 network as one address', () =>
  withTokenServer(
    async ({ post }) => {
      const guess = (index: number) => post('token', wrongPassword, from(`2001:db8:0:7::${index + 1}`))
      assert.equal(await statuses(6, guess), [...Array(5).fill(400), 429])
      assert.is((await post('token', passwordGrant, from('2001:db8:0:8::1'))).status, 200)
    },
    { proxied: true, cheap: true },
  ))

test('does not lock an account out at an address where it has logged in within 30 days', () =>
  withTokenServer(
    async ({ post, time }) => {
      assert.is((await post('token', passwordGrant, from('192.0.2.1'))).status, 200)
      time.now += 29 * 86_400_000
      const spread = (index: number) => post('token', wrongPassword, from(`198.51.100.${index % 25}`))
      assert.equal(await statuses(101, spread), [...Array(99).fill(400), 429, 429])
      assert.is((await post('token', passwordGrant, from('203.0.113.1'))).status, 429)
      assert.is((await post('token', passwordGrant, from('192.0.2.1'))).status, 200)
    },
    { proxied: true, cheap: true },
  ))

test('knows familiar addresses in a process that starts later, without storing them in the log', () =>
  withTokenServer(
    async ({ post, process, file, time }) => {
      await post('token', passwordGrant, from('192.0.2.1'))
      const later = await openProcess(file, time)
      const familiar = (account: number, address: string) =>
        later.familiarAddresses.isFamiliar(account, address, time.now)
      assert.equal([familiar(1, '192.0.2.1'), familiar(1, '192.0.2.2'), familiar(2, '192.0.2.1')], [true, false, false])
      await later.close()
      for await (const { data } of process.store.readAll('start')) assert.not.match(JSON.stringify(data), '192.0.2')
    },
    { proxied: true, cheap: true },
  ))

test('treats an address with the last log-in 30 days ago like any other', () =>
  withTokenServer(
    async ({ post, time }) => {
      assert.is((await post('token', passwordGrant, from('192.0.2.1'))).status, 200)
      time.now += 30 * 86_400_000
      await statuses(100, (index) => post('token', wrongPassword, from(`198.51.100.${index % 25}`)))
      assert.is((await post('token', passwordGrant, from('192.0.2.1'))).status, 429)
    },
    { proxied: true, cheap: true },
  ))

test('does not lock out an account at a shared address where it has logged in, and gives it no extra attempts', () =>
  withTokenServer(
    async ({ post }) => {
      assert.is((await post('token', passwordGrant, from('192.0.2.1'))).status, 200)
      const invent = (index: number) =>
        post('token', { ...wrongPassword, username: `u${index}@example.com` }, from('192.0.2.1'))
      assert.equal(await statuses(51, invent), [...Array(49).fill(400), 429, 429])
      assert.is((await post('token', passwordGrant, from('192.0.2.1'))).status, 200)
      const guess = () => post('token', wrongPassword, from('192.0.2.1'))
      assert.equal(await statuses(6, guess), [...Array(5).fill(400), 429])
    },
    { proxied: true, cheap: true },
  ))

test('is not reset by inventing user names', () =>
  withTokenServer(
    async ({ post, process }) => {
      await statuses(5, () => post('token', wrongPassword, from('192.0.2.1')))
      const invent = (index: number) =>
        process.attemptLimiter
          .attempt(
            { subject: `name ${index}`, address: `198.51.${index >> 8}.${index & 255}`, familiar: false },
            alwaysWrong,
          )
          .catch(() => undefined)
      for (let index = 0; index < 60_000; index++) await invent(index)
      assert.is((await post('token', passwordGrant, from('192.0.2.1'))).status, 429)
    },
    { proxied: true, cheap: true },
  ))

test('is the same for an unknown user name', () =>
  withTokenServer(
    async ({ post }) => {
      const nobody = { ...wrongPassword, username: 'nobody@example.com' }
      assert.equal(await statuses(6, () => post('token', nobody, from('192.0.2.1'))), [...Array(5).fill(400), 429])
      const spread = (index: number) => post('token', nobody, from(`198.51.100.${index % 25}`))
      assert.equal(await statuses(95, spread), [...Array(94).fill(400), 429])
    },
    { proxied: true, cheap: true },
  ))

test('counts parallel attempts like sequential ones', () =>
  withTokenServer(
    async ({ post }) => {
      const many = await Promise.all(Array.from({ length: 30 }, () => post('token', wrongPassword, from('192.0.2.1'))))
      assert.is(many.filter(({ status }) => status === 400).length, 5)
    },
    { proxied: true, cheap: true },
  ))

test('applies to client secrets from the 50th failure, and locks out neither the client nor a password', () =>
  withTokenServer(
    async ({ post }) => {
      const guess = () => post('token', { ...passwordGrant, client_secret: 'wrong' })
      assert.equal(await statuses(51, guess), [...Array(49).fill(401), 429, 429])
      assert.is((await post('token', passwordGrant)).status, 200)
    },
    { cheap: true },
  ))

test('for API tokens does not lock out a password', () =>
  withTokenServer(
    async ({ post, process }) => {
      const verifier = new ApiTokenVerifier(process)
      const guess = { email: ann.email, token: 'wrong', address: '127.0.0.1' }
      for (let count = 1; count <= 49; count++) assert.is(await verifier.verify(guess), undefined)
      await verifier.verify(guess).then(
        () => assert.unreachable('the 50th attempt was not rejected'),
        (error: unknown) => assert.ok(error instanceof RequestError && error.kind === 'too-many', String(error)),
      )
      assert.is((await post('token', passwordGrant)).status, 200)
    },
    { cheap: true },
  ))

test('logs failures and lock-outs, but nothing that was entered', () =>
  withTokenServer(
    async ({ post, process }) => {
      await post('token', passwordGrant, from('192.0.2.9'))
      await statuses(7, () => post('token', wrongPassword, from('192.0.2.1')))
      await post('token', { ...wrongPassword, username: 'my password by mistake' }, from('192.0.2.3'))
      await post('token', { ...passwordGrant, client_secret: 'wrong secret' }, from('192.0.2.4'))
      assert.equal(
        process.securityEvents.map((event) => event.event),
        [
          'log-in',
          ...Array(4).fill('log-in-failed'),
          'locked-out',
          'log-in-failed',
          'log-in-failed',
          'wrong-client-secret',
        ],
      )
      const locked = process.securityEvents.find(({ event }) => event === 'locked-out')
      const seconds = 600
      assert.equal(locked, { event: 'locked-out', what: 'log-ins', account: 1, address: '192.0.2.1', seconds })
      const text = JSON.stringify(process.securityEvents)
      for (const typed of ['mistake', 'wrong secret', passwordGrant.password]) assert.not.match(text, typed)
    },
    { proxied: true, cheap: true },
  ))

const alwaysWrong = async () => false

test.run()
