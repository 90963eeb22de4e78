import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { shareSecret } from '../../../src/commands/secrets/share-secret.ts'
import { Mailer, mailDelivery } from '../../../src/reactions/mail/mailer.ts'
import { createLogger } from '../../../src/runtime/logger.ts'
import { StoreUnavailable, type EventStore } from '../../../src/stores/ports/event-store.ts'
import type { OutgoingMail } from '../../../src/stores/ports/mail.ts'
import { working } from '../../projections/engine/working.ts'
import { shareCommand, withTwo, type SecretsProcess } from '../../commands/secrets/secrets-on-disk.ts'
import { withFakeTime, type FakeTime } from '../../fake-time.ts'
import { until } from '../../until.ts'

const test = suite('a mailer')

/** Milliseconds that a claim lasts, and several times as many. */
const CLAIM = 15_000
const LONG = 5 * CLAIM
/** Milliseconds between two looks: so few that a holder who lives has its turn many times before its claim ends. */
const SHORT = 25
const SECOND = 1_000

/** Lets time pass until something holds. */
const passes = (time: FakeTime, step: number, what: string, holds: () => boolean | Promise<boolean>): Promise<void> =>
  until(what, async () => {
    await time.pass(step)
    return holds()
  })

/** Each of two processes' stores closes in real time, with nothing left that waits for the other. */
const withTwoAndTime = (run: (one: SecretsProcess, other: SecretsProcess, time: FakeTime) => Promise<void>) =>
  withTwo((one, other) =>
    withFakeTime(async (time) => {
      await run(one, other, time)
      await time.pass(CLAIM)
    }),
  )

/** A process's mailer, and what it has sent. */
function mailerOf(secrets: SecretsProcess, sent: string[], send: () => Promise<void> = async () => {}) {
  const mail = {
    async send({ messageId }: OutgoingMail) {
      await send()
      sent.push(messageId)
    },
    close: async () => {},
  }
  const mailer = new Mailer({ secrets, mail, from: 'a@example.com', baseUrl: '', log: createLogger('silent') })
  const stop = working({ scheduledJobs: [mailDelivery] }, () => ({ mailer }), secrets)
  return { stop: async () => (await stop)() }
}

const isDone = (secrets: SecretsProcess) => async () => (await secrets.vault.nextMail()) === undefined

/** A store of which some calls can't be done for a while. */
const refusing = <Store extends object>(store: Store, full: { is: boolean }, names: readonly string[]) =>
  instead(store, names, async (call) => {
    if (full.is) throw new StoreUnavailable('no room')
    return call()
  })

test('sends a mail once, however long the log and the vault can not record that it was sent', () =>
  withTwoAndTime(async (one, other, time) => {
    await shareSecret(one, shareCommand({ recipients: ['tom@example.com'] }))
    const full = { is: false }
    const limited = (of: SecretsProcess): SecretsProcess => ({
      ...of,
      store: refusing<EventStore>(of.store, full, ['append']),
      vault: refusing(of.vault, full, ['claimMail', 'renewClaim', 'doubtClaim', 'postponeMail', 'removeMail']),
    })
    const sent: string[] = []
    const mailers = [one, other].map((each) => mailerOf(limited(each), sent, async () => void (full.is = true)))
    await passes(time, SHORT, 'it to be sent', () => sent.length > 0)
    await time.pass(LONG)
    full.is = false
    await passes(time, SHORT, 'it to leave the queue', isDone(one))
    assert.is(sent.length, 1)
    await Promise.all(mailers.map((mailer) => mailer.stop()))
  }))

test('sends a mail whose mailer has died as soon as that one was silent for as long as a claim lasts', () =>
  withTwoAndTime(async (one, other, time) => {
    await shareSecret(one, shareCommand({ recipients: ['tom@example.com'] }))
    await one.vault.claimMail(one.clock(), 'a dead mailer', async () => false)
    const sent: string[] = []
    const mailer = mailerOf(other, sent)
    await time.pass(CLAIM - SECOND)
    assert.is(sent.length, 0)
    await passes(time, SECOND, 'it to leave the queue', isDone(one))
    assert.is(sent.length, 1)
    await mailer.stop()
  }))

test('that stood still for so long that another has its mail does not send it', () =>
  withTwoAndTime(async (one, other, time) => {
    await shareSecret(one, shareCommand({ recipients: ['tom@example.com'] }))
    const frozen = freezing()
    const [late, sent]: [string[], string[]] = [[], []]
    const store = frozen.behind(one.store, ['read'])
    const stopped = mailerOf({ ...one, store, vault: frozen.before(one.vault, ['renewClaim']) }, late)
    await passes(time, SECOND, 'it to stand still', () => frozen.isReached())
    const mailer = mailerOf(other, sent)
    await passes(time, SECOND, 'it to leave the queue', isDone(one))
    frozen.goOn()
    for (let passed = 0; passed < CLAIM; passed += SECOND) await passes(time, SECOND, 'a second', () => true)
    assert.equal([late.length, sent.length], [0, 1])
    await Promise.all([stopped.stop(), mailer.stop()])
  }))

/** Stands still before some calls, or with their answers, as a process does between SIGSTOP and SIGCONT. */
function freezing() {
  let goOn = () => {}
  let isReached = false
  const going = new Promise<void>((done) => (goOn = done))
  const standStill = () => {
    isReached = true
    return going
  }
  const before = <Store extends object>(store: Store, names: readonly string[]) =>
    instead(store, names, async (call) => {
      await standStill()
      return call()
    })
  const behind = <Store extends object>(store: Store, names: readonly string[]) =>
    instead(store, names, async (call) => {
      const answer = await call()
      await standStill()
      return answer
    })
  return { before, behind, isReached: () => isReached, goOn: () => goOn() }
}

/** A store of which some calls are done otherwise. */
function instead<Store extends object>(
  store: Store,
  names: readonly string[],
  act: (call: () => unknown) => Promise<unknown>,
): Store {
  return new Proxy(store, {
    get(of, name) {
      const value: unknown = Reflect.get(of, name)
      if (typeof value !== 'function') return value
      if (!names.includes(String(name))) return value.bind(of)
      return async (...given: unknown[]) => act(() => Reflect.apply(value, of, given))
    },
  })
}

test.run()
