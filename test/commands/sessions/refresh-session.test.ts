import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { refreshSession } from '../../../src/commands/sessions/sessions.ts'
import { registerAccount } from '../../../src/commands/accounts/accounts.ts'
import { InvalidGrant } from '../../../src/domain/session/session.ts'
import type { VerifiedClient } from '../../../src/commands/clients/clients.ts'
import {
  ann,
  cli,
  clientOf,
  http,
  isLive,
  logIn,
  openProcess,
  withLogFile,
  type Clock,
  type Process,
} from '../accounts-on-disk.ts'

const test = suite('a refresh token')

type Given = { one: Process; other: Process; client: VerifiedClient; time: Clock }

const withTwoProcesses = (run: (given: Given) => Promise<void>) =>
  withLogFile(async (file) => {
    const time = { now: 1_800_000_000_000 }
    const [one, other] = [await openProcess(file, time), await openProcess(file, time)]
    try {
      await registerAccount(one, ann, cli)
      await run({ one, other, client: await clientOf(one), time })
    } finally {
      await Promise.all([one.close(), other.close()])
    }
  })

const isRefused = (error: unknown) => error instanceof InvalidGrant && error.message === 'Invalid refresh token'

async function refusal(promise: Promise<unknown>): Promise<void> {
  try {
    await promise
  } catch (error) {
    assert.ok(isRefused(error), String(error))
    return
  }
  assert.unreachable('it was granted')
}

test('is valid once: 1 of 20 concurrent refreshes in two processes succeeds, and the session stays open', () =>
  withTwoProcesses(async ({ one, other, client }) => {
    const { refreshToken: token, accessToken } = await logIn(one, client)
    const tries = Array.from({ length: 20 }, (_, index) =>
      refreshSession(index % 2 ? one : other, { token, client }, http),
    )
    const outcomes = await Promise.allSettled(tries)
    const granted = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    assert.is(granted.length, 1)
    assert.ok(outcomes.every((outcome) => outcome.status === 'fulfilled' || isRefused(outcome.reason)))
    assert.is(await isLive(other, accessToken), true)
    assert.ok(await refreshSession(other, { token: granted[0]?.refreshToken ?? '', client }, http))
  }))

test('that is reused within 10 s of its rotation is refused without ending the session', () =>
  withTwoProcesses(async ({ one, other, client, time }) => {
    const { refreshToken: token } = await logIn(one, client)
    const next = await refreshSession(one, { token, client }, http)
    time.now += 10_000
    await refusal(refreshSession(other, { token, client }, http))
    assert.is(await isLive(one, next.accessToken), true)
    assert.ok(await refreshSession(one, { token: next.refreshToken, client }, http))
  }))

test('that is reused later revokes its session, including access tokens, in every process', () =>
  withTwoProcesses(async ({ one, other, client, time }) => {
    const first = await logIn(one, client)
    const next = await refreshSession(one, { token: first.refreshToken, client }, http)
    time.now += 10_001
    await refusal(refreshSession(other, { token: first.refreshToken, client }, http))
    for (const process of [one, other]) {
      assert.is(await isLive(process, first.accessToken), false)
      assert.is(await isLive(process, next.accessToken), false)
      await refusal(refreshSession(process, { token: next.refreshToken, client }, http))
    }
  }))

test('is recognized as used after any number of rotations', () =>
  withTwoProcesses(async ({ one, client, time }) => {
    const first = await logIn(one, client)
    let last = first
    for (let count = 0; count < 30; count++)
      last = await refreshSession(one, { token: last.refreshToken, client }, http)
    time.now += 11_000
    await refusal(refreshSession(one, { token: first.refreshToken, client }, http))
    assert.is(await isLive(one, last.accessToken), false)
  }))

test('that was never issued does not end the session that it names', () =>
  withTwoProcesses(async ({ one, client, time }) => {
    const { accessToken, refreshToken } = await logIn(one, client)
    time.now += 11_000
    await refusal(refreshSession(one, { token: refreshToken.replace(/.{5}$/, 'AAAAA'), client }, http))
    assert.is(await isLive(one, accessToken), true)
  }))

test('is refused from another client', () =>
  withTwoProcesses(async ({ one, client }) => {
    const { accessToken, refreshToken } = await logIn(one, client)
    await refusal(refreshSession(one, { token: refreshToken, client: await clientOf(one) }, http))
    assert.is(await isLive(one, accessToken), true)
  }))

test('has a lifetime that starts again with each rotation', () =>
  withTwoProcesses(async ({ one, client, time }) => {
    const first = await logIn(one, client)
    time.now += 1_209_600_000 - 1
    const next = await refreshSession(one, { token: first.refreshToken, client }, http)
    time.now += 1_209_600_000
    try {
      await refreshSession(one, { token: next.refreshToken, client }, http)
      assert.unreachable('it was granted')
    } catch (error) {
      assert.ok(error instanceof InvalidGrant)
      assert.is(error.message, 'Refresh token has expired')
    }
  }))

test.run()
