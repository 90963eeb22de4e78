import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  changePassword,
  disableAccount,
  enableAccount,
  registerAccount,
} from '../../../src/commands/accounts/accounts.ts'
import { disableClient } from '../../../src/commands/clients/clients.ts'
import { refreshSession } from '../../../src/commands/sessions/sessions.ts'
import { InvalidGrant } from '../../../src/domain/session/session.ts'
import { ann, cli, clientOf, http, isLive, logIn, openProcess, withLogFile, type Process } from '../accounts-on-disk.ts'

const test = suite('a log-in')

const endingAll = { email: ann.email, apiTokens: 'ended' } as const

/** Ann, a client, and two processes: a server and the operator's command line. */
const withAnn = (
  run: (given: { server: Process; operator: Process; client: Awaited<ReturnType<typeof clientOf>> }) => Promise<void>,
) =>
  withLogFile(async (file) => {
    const time = { now: 1_800_000_000_000 }
    const [server, operator] = [await openProcess(file, time), await openProcess(file, time)]
    await registerAccount(operator, ann, cli)
    await run({ server, operator, client: await clientOf(operator) })
    await Promise.all([server.close(), operator.close()])
  })

const refused = async (promise: Promise<unknown>) => {
  try {
    await promise
  } catch (error) {
    if (error instanceof InvalidGrant) return error.message
    throw error
  }
  return 'granted'
}

test('finds the account regardless of the case of its address', () =>
  withAnn(async ({ server, client }) => {
    const { accessToken } = await logIn(server, client)
    assert.is(await isLive(server, accessToken), true)
  }))

test('fails alike for a wrong password and a disabled account, each after a password comparison', () =>
  withAnn(async ({ server, operator, client }) => {
    const { comparisonCount } = server.passwords
    const wrong = await refused(logIn(server, client, 'wrong'))
    await disableAccount(operator, endingAll, cli)
    assert.is(wrong, 'Invalid username and password combination')
    assert.is(await refused(logIn(server, client)), wrong)
    assert.is(server.passwords.comparisonCount - comparisonCount, 2)
  }))

test('ends when another process changes the password', () =>
  withAnn(async ({ server, operator, client }) => {
    const { accessToken, refreshToken } = await logIn(server, client)
    await changePassword(operator, { email: ann.email, password: 'new horse', apiTokens: 'ended' }, cli)
    assert.is(await isLive(server, accessToken), false)
    assert.is(await refused(refreshSession(server, { token: refreshToken, client }, http)), 'Invalid refresh token')
    const again = await logIn(server, client, 'new horse')
    assert.is(await isLive(server, again.accessToken), true)
  }))

test('stays ended when a disabled account is enabled again', () =>
  withAnn(async ({ server, operator, client }) => {
    const { accessToken, refreshToken } = await logIn(server, client)
    await disableAccount(operator, endingAll, cli)
    await enableAccount(operator, ann.email, cli)
    assert.is(await isLive(server, accessToken), false)
    assert.is(await refused(refreshSession(server, { token: refreshToken, client }, http)), 'Invalid refresh token')
    assert.is(await isLive(server, (await logIn(server, client)).accessToken), true)
  }))

test('ends when its client is disabled', () =>
  withAnn(async ({ server, operator, client }) => {
    const { accessToken } = await logIn(server, client)
    await disableClient(operator, client.client, cli)
    assert.is(await isLive(server, accessToken), false)
  }))

test.run()
