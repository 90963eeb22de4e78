import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { handle } from '../../../src/commands/core/handle.ts'
import { findAccount, loginFold, loginStream } from '../../../src/commands/accounts/accounts.ts'
import { registerAccount } from '../../../src/commands/accounts/register-account.ts'
import { reserveLogin } from '../../../src/domain/account/login.ts'
import { Refusal } from '../../../src/domain/refusal.ts'
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

test('that died after the reservation is finished by its repeat, with the reserved id', () =>
  withTwoProcesses(async (one) => {
    const wish = { stream: loginStream(ann.email), id: 'died', origin: cli }
    await handle(one, wish, loginFold, (login) => reserveLogin(login, { account: 41, email: ann.email }))
    assert.is(await findAccount(one.store, ann.email), undefined)
    assert.equal(await registerAccount(one, ann, cli), { account: 41, email: ann.email })
    assert.is((await findAccount(one.store, 'ann@example.com '))?.email, ann.email)
  }))

test('of one address wins once, whoever races in whatever case', () =>
  withTwoProcesses(async (one, other) => {
    const tries = Array.from({ length: 6 }, (_, index) =>
      registerAccount(index % 2 ? one : other, { ...ann, email: index % 3 ? ann.email : ann.email.toUpperCase() }, cli),
    )
    const outcomes = await Promise.allSettled(tries)
    assert.is(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        assert.ok(outcome.reason instanceof Refusal && outcome.reason.kind === 'conflict', String(outcome.reason))
      }
    }
  }))

test('with a password that nobody should have is refused and leaves nothing', () =>
  withTwoProcesses(async (one) => {
    const before = one.store.head()
    for (const password of ['', 'q7!kz2p', 'password1', 'x'.repeat(73), 'ä'.repeat(37)]) {
      try {
        await registerAccount(one, { ...ann, password }, cli)
        assert.unreachable('it was registered')
      } catch (error) {
        assert.ok(error instanceof Refusal && error.kind === 'invalid', String(error))
      }
    }
    assert.equal(one.store.head(), before)
    assert.ok(await registerAccount(one, { ...ann, password: 'ä'.repeat(36) }, cli))
  }))

test.run()
