import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { changePlan } from '../../src/commands/change-plan.ts'
import { disableAccount } from '../../src/commands/disable-account.ts'
import { issueApiToken } from '../../src/commands/issue-api-token.ts'
import { registerAccount } from '../../src/commands/register-account.ts'
import { revokeApiToken } from '../../src/commands/revoke-api-token.ts'
import { ApiTokenVerifier } from '../../src/commands/verify-api-token.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import { ann, cli, openProcess, withLogFile, type Process } from './accounts-on-disk.ts'

const test = suite('an API token')

const withToken = (
  run: (given: { operator: Process; verify: ApiTokenVerifier; id: string; token: string }) => Promise<void>,
) =>
  withLogFile(async (file) => {
    const time = { now: 1_800_000_000_000 }
    const [server, operator] = [await openProcess(file, time), await openProcess(file, time)]
    try {
      await registerAccount(operator, ann, cli)
      const { id, token } = await issueApiToken(operator, ann.email, cli)
      await run({ operator, verify: new ApiTokenVerifier(server), id, token })
    } finally {
      await Promise.all([server.close(), operator.close()])
    }
  })
const address = '192.0.2.1'

test('tells whose it is, again and again', () =>
  withToken(async ({ verify, id, token }) => {
    const caller = { account: 1, email: ann.email, plan: 'basic', apiToken: id }
    for (const email of [ann.email, 'ANN@EXAMPLE.COM'])
      assert.equal(await verify.verify({ email, token, address }), caller)
  }))

test('is nothing with another address, nor is another token', () =>
  withToken(async ({ verify, token }) => {
    assert.is(await verify.verify({ email: 'bob@example.com', token, address }), undefined)
    assert.is(await verify.verify({ email: ann.email, token: `${token}x`, address }), undefined)
    assert.is(await verify.verify({ email: ann.email, token: '', address }), undefined)
  }))

test('that another process revokes ends before the next request', () =>
  withToken(async ({ operator, verify, id, token }) => {
    assert.ok(await verify.verify({ email: ann.email, token, address }))
    await revokeApiToken(operator, { email: ann.email, token: id }, cli)
    assert.is(await verify.verify({ email: ann.email, token, address }), undefined)
  }))

test('follows the plan of its account, and ends with it', () =>
  withToken(async ({ operator, verify, token }) => {
    assert.is((await verify.verify({ email: ann.email, token, address }))?.plan, 'basic')
    await changePlan(operator, { email: ann.email, plan: 'pro' }, cli)
    assert.is((await verify.verify({ email: ann.email, token, address }))?.plan, 'pro')
    await disableAccount(operator, ann.email, cli)
    assert.is(await verify.verify({ email: ann.email, token, address }), undefined)
  }))

test('that is wrong the 50th time from one address is too many, and the right one still passes', () =>
  withToken(async ({ verify, token }) => {
    for (let count = 1; count <= 49; count++) {
      assert.is(await verify.verify({ email: ann.email, token: `wrong ${count}`, address }), undefined)
    }
    try {
      await verify.verify({ email: ann.email, token: 'wrong 50', address })
      assert.unreachable('it was not stopped')
    } catch (error) {
      assert.ok(error instanceof Refusal && error.kind === 'too-many', String(error))
    }
    assert.ok(await verify.verify({ email: ann.email, token, address }))
  }))

test.run()
