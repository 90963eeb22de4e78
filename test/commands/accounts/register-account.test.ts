import { loginFold, reserveLogin } from '../../../src/domain/account/login.ts'
import { accountFold, accountStream } from '../../../src/domain/account/account.ts'
import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { handle } from '../../../src/commands/core/handle.ts'
import { findAccount, registerAccount } from '../../../src/commands/accounts/accounts.ts'
import { legacyLoginStream } from '../../../src/commands/accounts/account-directory.ts'
import { loadStream } from '../../../src/events/load-stream.ts'
import { toEventMetadata } from '../../../src/events/event-metadata.ts'
import { RequestError } from '../../../src/domain/request-error.ts'
import { ann, cli, openProcess, withLogFile, type Process } from '../accounts-on-disk.ts'

const test = suite('a registration')

const withTwoProcesses = (run: (one: Process, other: Process) => Promise<void>) =>
  withLogFile(async (file) => {
    const time = { now: 1_800_000_000_000 }
    const [one, other] = [await openProcess(file, time), await openProcess(file, time)]
    try {
      await run(one, other)
    } finally {
      await Promise.all([one.close(), other.close()])
    }
  })

test('that crashed after the reservation is completed by a retry, with the reserved id', () =>
  withTwoProcesses(async (one) => {
    for (const [stream, account] of [
      [await one.people.loginStreamOf(ann.email), 41],
      [legacyLoginStream('bob@example.com'), 42],
    ] as const) {
      const email = account === 41 ? ann.email : 'bob@example.com'
      const target = { stream, id: `died-${account}`, origin: cli }
      await handle(one, target, loginFold, (login) => reserveLogin(login, { account }))
      assert.is(await findAccount(one, email), undefined)
      assert.equal(await registerAccount(one, { ...ann, email }, cli), { account, email })
      const found = await findAccount(one, `${email.toLowerCase()} `)
      assert.is(found?.account, account)
      assert.is(found && (await one.people.emailOf(account, found)), email)
    }
  }))

test('stores the address outside the event log', () =>
  withTwoProcesses(async (one, other) => {
    const { account } = await registerAccount(one, ann, cli)
    for await (const event of one.store.readAll('start')) {
      assert.not.match(JSON.stringify([event.stream, event.data, event.metadata]), /example\.com/i)
    }
    const { state } = await loadStream(other.store, accountStream(account), accountFold)
    assert.is(await other.people.emailOf(account, state), ann.email)
  }))

test('whose row is missing is still found by its address, and displayed by its id', () =>
  withTwoProcesses(async (one) => {
    const { account } = await registerAccount(one, ann, cli)
    await one.persons.forget([account])
    const found = await findAccount(one, ann.email)
    assert.is(found?.account, account)
    assert.is(found && (await one.people.displayNameOf(account, found)), `account-${account}`)
  }))

test('of an earlier release keeps its address, which is in its events', () =>
  withTwoProcesses(async (one) => {
    const first = (type: string, data: object) => [
      { id: randomUUID(), type, data: { ...data }, metadata: toEventMetadata(cli, one.clock(), '1') },
    ]
    await one.store.append(
      legacyLoginStream(ann.email),
      'none',
      first('LoginReserved', { account: 7, email: ann.email }),
    )
    const data = { email: ann.email, password: 'hash', plan: 'basic' }
    await one.store.append(accountStream(7), 'none', first('AccountRegistered', data))
    const found = await findAccount(one, 'ANN@example.com')
    assert.is(found && (await one.people.emailOf(7, found)), ann.email)
    const again = await registerAccount(one, ann, cli).catch((error: unknown) => error)
    assert.ok(again instanceof RequestError && again.kind === 'conflict', String(again))
  }))

test('succeeds once when several race for one address, in any case', () =>
  withTwoProcesses(async (one, other) => {
    const tries = Array.from({ length: 6 }, (_, index) =>
      registerAccount(index % 2 ? one : other, { ...ann, email: index % 3 ? ann.email : ann.email.toUpperCase() }, cli),
    )
    const outcomes = await Promise.allSettled(tries)
    assert.is(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        assert.ok(outcome.reason instanceof RequestError && outcome.reason.kind === 'conflict', String(outcome.reason))
      }
    }
  }))

test('with an unacceptable password is refused and writes nothing', () =>
  withTwoProcesses(async (one) => {
    const before = await one.store.head()
    for (const password of ['', 'q7!kz2p', 'password1', 'x'.repeat(73), 'ä'.repeat(37)]) {
      try {
        await registerAccount(one, { ...ann, password }, cli)
        assert.unreachable('it was registered')
      } catch (error) {
        assert.ok(error instanceof RequestError && error.kind === 'invalid', String(error))
      }
    }
    assert.equal(await one.store.head(), before)
    assert.ok(await registerAccount(one, { ...ann, password: 'ä'.repeat(36) }, cli))
  }))

test.run()
