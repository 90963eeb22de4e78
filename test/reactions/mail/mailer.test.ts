import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { shareSecret } from '../../../src/commands/secrets/share-secret.ts'
import { Mailer, mails } from '../../../src/reactions/mail/mailer.ts'
import { openLog } from '../../../src/runtime/log.ts'
import { StoreUnavailable, type EventStore } from '../../../src/stores/ports/event-store.ts'
import type { OutgoingMail } from '../../../src/stores/ports/mail.ts'
import { working } from '../../projections/engine/working.ts'
import { wish, withTwo, type SecretsProcess } from '../../commands/secrets/secrets-on-disk.ts'
import { pause, until } from '../../until.ts'

const test = suite('a mailer')

/** Milliseconds that a claim lasts here, and several times as many. */
const CLAIM = 400
const LONG = 5 * CLAIM

/** A process's mailer, and what it has sent. */
function mailerOf(secrets: SecretsProcess, sent: string[], send: () => Promise<void> = async () => {}) {
  const mail = {
    async send({ messageId }: OutgoingMail) {
      await send()
      sent.push(messageId)
    },
    close: async () => {},
  }
  const mailer = new Mailer({ secrets, mail, from: 'a@example.com', address: '', log: openLog('silent'), claim: CLAIM })
  const stop = working({ routines: [mails] }, () => ({ mailer }), secrets)
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
  withTwo(async (one, other) => {
    await shareSecret(one, wish({ recipients: ['tom@example.com'] }))
    const full = { is: false }
    const limited = (of: SecretsProcess): SecretsProcess => ({
      ...of,
      store: refusing<EventStore>(of.store, full, ['append']),
      vault: refusing(of.vault, full, ['claimMail', 'renewClaim', 'doubtClaim', 'postponeMail', 'removeMail']),
    })
    const sent: string[] = []
    const mailers = [one, other].map((each) => mailerOf(limited(each), sent, async () => void (full.is = true)))
    await until('it to be sent', () => sent.length > 0)
    await pause(LONG)
    full.is = false
    await until('it to leave the queue', isDone(one))
    assert.is(sent.length, 1)
    await Promise.all(mailers.map((mailer) => mailer.stop()))
  }))

test('sends a mail whose mailer has died as soon as that one was silent for as long as a claim lasts', () =>
  withTwo(async (one, other) => {
    await shareSecret(one, wish({ recipients: ['tom@example.com'] }))
    await one.vault.claimMail(one.clock(), 'a dead mailer', async () => false)
    const sent: string[] = []
    const mailer = mailerOf(other, sent)
    await until('it to leave the queue', isDone(one))
    assert.is(sent.length, 1)
    await mailer.stop()
  }))

test('that stood still for so long that another has its mail does not send it', () =>
  withTwo(async (one, other) => {
    await shareSecret(one, wish({ recipients: ['tom@example.com'] }))
    const frozen = freezing()
    const [late, sent]: [string[], string[]] = [[], []]
    const store = frozen.before(one.store, ['read'])
    const stopped = mailerOf({ ...one, store, vault: frozen.before(one.vault, ['renewClaim']) }, late)
    await frozen.reached
    const mailer = mailerOf(other, sent)
    await until('it to leave the queue', isDone(one))
    frozen.goOn()
    await pause(CLAIM)
    assert.equal([late.length, sent.length], [0, 1])
    await Promise.all([stopped.stop(), mailer.stop()])
  }))

/** Stands still at the first of some calls, as a process does between SIGSTOP and SIGCONT. */
function freezing() {
  let goOn = () => {}
  let arrive = () => {}
  const going = new Promise<void>((done) => (goOn = done))
  const reached = new Promise<void>((done) => (arrive = done))
  const before = <Store extends object>(store: Store, names: readonly string[]) =>
    instead(store, names, async (call) => {
      arrive()
      await going
      return call()
    })
  return { before, reached, goOn }
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
