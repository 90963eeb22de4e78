import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { changePlan, disableAccount, registerAccount } from '../../../src/commands/accounts/accounts.ts'
import {
  ApiTokenVerifier,
  issueApiToken,
  lastUseOf,
  revokeApiToken,
} from '../../../src/commands/accounts/api-tokens.ts'
import { RequestError } from '../../../src/domain/request-error.ts'
import { ann, cli, openProcess, withLogFile, type Clock, type Process } from '../accounts-on-disk.ts'

const test = suite('an API token')

type Given = {
  readonly operator: Process
  readonly server: Process
  readonly verify: ApiTokenVerifier
  readonly id: string
  readonly token: string
  readonly time: Clock
}

/** Resolves when all pending commands on a token's stream have finished: each process queues commands by stream. */
const settled = async (stream: string, ...processes: Process[]) => {
  for (const { queue } of processes) await queue.run(stream, async () => undefined)
}

const withToken = (run: (given: Given) => Promise<void>) =>
  withLogFile(async (file) => {
    const time = { now: 1_800_000_000_000 }
    const [server, operator] = [await openProcess(file, time), await openProcess(file, time)]
    try {
      await registerAccount(operator, ann, cli)
      const { id, token } = await issueApiToken(operator, { email: ann.email, lifetimeMs: undefined }, cli)
      await run({ operator, server, verify: new ApiTokenVerifier(server), id, token, time })
    } finally {
      await Promise.all([server.close(), operator.close()])
    }
  })
const address = '192.0.2.1'

test('identifies its account every time', () =>
  withToken(async ({ verify, id, token }) => {
    const caller = { account: 1, email: ann.email, plan: 'basic', apiToken: id }
    for (const email of [ann.email, 'ANN@EXAMPLE.COM'])
      assert.equal(await verify.verify({ email, token, address }), caller)
  }))

test('is rejected with another email address, and so is a different token', () =>
  withToken(async ({ verify, token }) => {
    assert.is(await verify.verify({ email: 'bob@example.com', token, address }), undefined)
    assert.is(await verify.verify({ email: ann.email, token: `${token}x`, address }), undefined)
    assert.is(await verify.verify({ email: ann.email, token: '', address }), undefined)
  }))

test('costs the same number of reads to reject for a known and an unknown address', () =>
  withToken(async ({ server, token }) => {
    let events = 0
    const counted = async (stream: string) => {
      const read = await server.store.readStream(stream)
      events += read.length
      return read
    }
    const verify = new ApiTokenVerifier({ ...server, store: { ...server.store, readStream: counted } })
    const readsFor = async (email: string, shown: string) => {
      const before = events
      await verify.verify({ email, token: shown, address })
      return events - before
    }
    const known = await readsFor(ann.email, `${token}x`)
    assert.ok(known > 0)
    assert.is(await readsFor('bob@example.com', token), known)
  }))

test('that another process revokes is rejected from the next request on', () =>
  withToken(async ({ operator, verify, id, token }) => {
    assert.ok(await verify.verify({ email: ann.email, token, address }))
    await revokeApiToken(operator, { email: ann.email, token: id }, cli)
    assert.is(await verify.verify({ email: ann.email, token, address }), undefined)
  }))

test('has the plan of its account, and stops working when the account is disabled', () =>
  withToken(async ({ operator, verify, token }) => {
    assert.is((await verify.verify({ email: ann.email, token, address }))?.plan, 'basic')
    await changePlan(operator, { email: ann.email, plan: 'pro' }, cli)
    assert.is((await verify.verify({ email: ann.email, token, address }))?.plan, 'pro')
    await disableAccount(operator, { email: ann.email, apiTokens: 'kept' }, cli)
    assert.is(await verify.verify({ email: ann.email, token, address }), undefined)
  }))

test('is rejected once it expires, even if it was verified a moment before', () =>
  withToken(async ({ operator, server, verify, time }) => {
    const { token } = await issueApiToken(operator, { email: ann.email, lifetimeMs: 60_000 }, cli)
    time.now += 59_999
    assert.ok(await verify.verify({ email: ann.email, token, address }))
    time.now += 1
    assert.is(await verify.verify({ email: ann.email, token, address }), undefined)
    assert.equal(server.securityEvents, [])
  }))

test('has its use recorded once an hour, however often and in however many processes it is used', () =>
  withToken(async ({ operator, server, verify, id, token, time }) => {
    const used = { account: 1, apiToken: id }
    const stream = `apitoken-1-${id}`
    const other = new ApiTokenVerifier(operator)
    const useAll = async () => {
      for (let count = 1; count <= 20; count++) {
        for (const one of [verify, other]) assert.ok(await one.verify({ email: ann.email, token, address }))
      }
      await settled(stream, server, operator)
    }
    assert.is(await lastUseOf(server.store, used), undefined)
    const start = time.now
    await useAll()
    assert.is(await lastUseOf(server.store, used), start)
    time.now += 3_599_999
    await useAll()
    assert.is(await lastUseOf(server.store, used), start)
    time.now += 1
    await useAll()
    assert.is(await lastUseOf(server.store, used), start + 3_600_000)
    assert.is((await server.store.readStream(stream)).length, 2)
  }))

test('is rate-limited after 50 wrong tokens from one address, and a valid token still passes', () =>
  withToken(async ({ verify, token }) => {
    for (let count = 1; count <= 49; count++) {
      assert.is(await verify.verify({ email: ann.email, token: `wrong ${count}`, address }), undefined)
    }
    try {
      await verify.verify({ email: ann.email, token: 'wrong 50', address })
      assert.unreachable('it was not stopped')
    } catch (error) {
      assert.ok(error instanceof RequestError && error.kind === 'too-many', String(error))
    }
    assert.ok(await verify.verify({ email: ann.email, token, address }))
  }))

test.run()
