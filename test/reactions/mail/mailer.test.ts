import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { shareSecret } from '../../../src/commands/secrets/share-secret.ts'
import { Mailer, mailDelivery } from '../../../src/reactions/mail/mailer.ts'
import { createLogger } from '../../../src/runtime/logger.ts'
import { StoreUnavailable, type EventStore } from '../../../src/stores/ports/event-store.ts'
import type { OutgoingMail } from '../../../src/stores/ports/mail.ts'
import { startBackgroundServices } from '../../projections/engine/start-background-services.ts'
import { shareCommand, withTwo, type SecretsProcess } from '../../commands/secrets/secrets-on-disk.ts'
import { withFakeTime, type FakeTime } from '../../fake-time.ts'
import { until } from '../../until.ts'

const test = suite('a mailer')

/** Lifetime of a claim in ms, and a multiple of it. */
const CLAIM = 15_000
const LONG = 5 * CLAIM
/** Step in ms that lets a running holder renew its claim many times before it expires. */
const SHORT = 25
const SECOND = 1_000

/** Advances the clock until the condition holds. */
const advanceUntil = (
  time: FakeTime,
  step: number,
  description: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> =>
  until(description, async () => {
    await time.advance(step)
    return holds()
  })

/** Two processes on fake time. Their stores close in real time, after every claim has expired. */
const withTwoOnFakeTime = (run: (one: SecretsProcess, other: SecretsProcess, time: FakeTime) => Promise<void>) =>
  withTwo((one, other) =>
    withFakeTime(async (time) => {
      await run(one, other, time)
      await time.advance(CLAIM)
    }),
  )

/** Starts the mailer of a process; it adds the ids of its mails to `sent`. */
function startMailer(
  secrets: SecretsProcess,
  sent: string[],
  send: () => Promise<void> = async () => {},
  isClockSettled = () => true,
) {
  const mail = {
    async send({ messageId }: OutgoingMail) {
      await send()
      sent.push(messageId)
    },
    close: async () => {},
  }
  const mailer = new Mailer({
    secrets,
    isClockSettled,
    mail,
    from: 'a@example.com',
    baseUrl: '',
    log: createLogger('silent'),
  })
  const stop = startBackgroundServices({ scheduledJobs: [mailDelivery] }, () => ({ mailer }), secrets)
  return { stop: async () => (await stop)() }
}

const isQueueEmpty = (secrets: SecretsProcess) => async () => (await secrets.vault.nextMail()) === undefined

/** A store whose given methods fail while `outage.is`. */
const failingWhile = <Store extends object>(store: Store, outage: { is: boolean }, names: readonly (keyof Store)[]) =>
  replacing(store, names, async (call) => {
    if (outage.is) throw new StoreUnavailable('no room')
    return call()
  })

test('sends a mail once even if the log and the vault cannot record it for longer than a claim lasts', () =>
  withTwoOnFakeTime(async (one, other, time) => {
    await shareSecret(one, shareCommand({ recipients: ['tom@example.com'] }))
    const outage = { is: false }
    const failing = (of: SecretsProcess): SecretsProcess => ({
      ...of,
      store: failingWhile<EventStore>(of.store, outage, ['append']),
      vault: failingWhile(of.vault, outage, ['claimMail', 'renewClaim', 'probeClaim', 'postponeMail', 'removeMail']),
    })
    const sent: string[] = []
    const mailers = [one, other].map((each) => startMailer(failing(each), sent, async () => void (outage.is = true)))
    await advanceUntil(time, SHORT, 'the mail to be sent', () => sent.length > 0)
    await time.advance(LONG)
    outage.is = false
    await advanceUntil(time, SHORT, 'the mail to leave the queue', isQueueEmpty(one))
    assert.is(sent.length, 1)
    await Promise.all(mailers.map((mailer) => mailer.stop()))
  }))

test('sends the mail of a dead mailer when its claim has expired', () =>
  withTwoOnFakeTime(async (one, other, time) => {
    await shareSecret(one, shareCommand({ recipients: ['tom@example.com'] }))
    await one.vault.claimMail(one.clock(), 'a dead mailer', async () => false)
    const sent: string[] = []
    const mailer = startMailer(other, sent)
    await time.advance(CLAIM - SECOND)
    assert.is(sent.length, 0)
    await advanceUntil(time, SECOND, 'the mail to leave the queue', isQueueEmpty(one))
    assert.is(sent.length, 1)
    await mailer.stop()
  }))

test('that was suspended until another mailer claimed its mail does not send it', () =>
  withTwoOnFakeTime(async (one, other, time) => {
    await shareSecret(one, shareCommand({ recipients: ['tom@example.com'] }))
    const frozen = createSuspension()
    const [late, sent]: [string[], string[]] = [[], []]
    const store = frozen.after(one.store, ['readStream'])
    const stopped = startMailer({ ...one, store, vault: frozen.before(one.vault, ['renewClaim']) }, late)
    await advanceUntil(time, SECOND, 'the mailer to be suspended', () => frozen.isReached())
    const mailer = startMailer(other, sent)
    await advanceUntil(time, SECOND, 'the mail to leave the queue', isQueueEmpty(one))
    frozen.resume()
    for (let passed = 0; passed < CLAIM; passed += SECOND) await advanceUntil(time, SECOND, 'a second', () => true)
    assert.equal([late.length, sent.length], [0, 1])
    await Promise.all([stopped.stop(), mailer.stop()])
  }))

/** Suspends before or after some calls, as a process between SIGSTOP and SIGCONT. */
function createSuspension() {
  let resume = () => {}
  let isReached = false
  const resumed = new Promise<void>((done) => (resume = done))
  const suspend = () => {
    isReached = true
    return resumed
  }
  const before = <Store extends object>(store: Store, names: readonly (keyof Store)[]) =>
    replacing(store, names, async (call) => {
      await suspend()
      return call()
    })
  const after = <Store extends object>(store: Store, names: readonly (keyof Store)[]) =>
    replacing(store, names, async (call) => {
      const result = await call()
      await suspend()
      return result
    })
  return { before, after, isReached: () => isReached, resume: () => resume() }
}

/** A store whose given methods are replaced by `replacement`. */
function replacing<Store extends object>(
  store: Store,
  names: readonly (keyof Store)[],
  replacement: (call: () => unknown) => Promise<unknown>,
): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (!names.some((one) => one === name)) return value.bind(target)
      return async (...args: unknown[]) => replacement(() => Reflect.apply(value, target, args))
    },
  })
}

test.run()
