import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openPostbox, type Postbox } from '../api/harness/postbox.ts'
import { newSender, shared } from '../api/harness/secrets.ts'
import { startService, type Overrides, type Service } from '../api/harness/service.ts'
import { forgetEngines } from '../engines.ts'
import { StoreUnavailable, type EventStore } from '../../src/stores/ports/event-store.ts'
import { until } from '../until.ts'
import type { Installation } from '../../src/wiring/installation.ts'

type Given = { dataDir: string; postbox: Postbox; services: Service[]; start(overrides: Overrides): Promise<Service> }
const test = suite<Given>('a mail of an installation with two service processes')

test.before.each(async (given) => {
  given.dataDir = mkdtempSync(join(tmpdir(), 'adamant-mail-'))
  given.postbox = await openPostbox()
  given.services = []
  given.start = async (overrides) => {
    const settings = { MAILER: given.postbox.address }
    const service = await startService({ dataDir: given.dataDir, settings, ...overrides })
    given.services.push(service)
    return service
  }
})
test.after.each(async ({ dataDir, postbox, services }) => {
  for (const service of services) await service.stop()
  await postbox.close()
  await forgetEngines(dataDir)
  rmSync(dataDir, { recursive: true, force: true })
})

/** Polls of the queue after which a process would have taken the mail that another one is sending. */
const POLLS = 5

/** Overrides for a process whose mails wait until `released`; they count its polls of the queue and its claim renewals. */
function countingOverrides(released: Promise<void> = Promise.resolve()) {
  const counts = { sent: 0, polls: 0, renewals: 0 }
  const installation = (opened: Installation): Installation => ({
    ...opened,
    mail: withCallbacks(opened.mail, {
      async send() {
        counts.sent++
        await released
      },
    }),
    vault: withCallbacks(opened.vault, {
      claimMail: () => void counts.polls++,
      renewClaim: () => void counts.renewals++,
    }),
  })
  return { counts, installation }
}

/** Wraps a port so that `before[name]` runs before its method `name`. */
function withCallbacks<Port extends object>(port: Port, before: { [name: string]: () => unknown }): Port {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      const first = before[String(name)]
      if (first === undefined) return value.bind(target) as unknown
      return async (...args: unknown[]) => {
        await first()
        return Reflect.apply(value, target, args) as unknown
      }
    },
  })
}

const isQueueEmpty = async ({ installation }: Service) => (await installation.vault.nextMail()) === undefined

test('is sent once even if their clocks are 16 s apart', async ({ postbox, start }) => {
  let release = () => {}
  const released = new Promise<void>((done) => (release = done))
  const [one, other] = [countingOverrides(released), countingOverrides(released)]
  const service = await start({ installation: one.installation })
  await start({ installation: other.installation, clock: () => Date.now() + 16_000 })
  await shared(service.url, await newSender(service.installation), { secret: 'x', recipient: 'tom@example.com' })
  await until('it to be sent', () => one.counts.sent + other.counts.sent > 0)
  const before = [one, other].map(({ counts }) => ({ counts, polls: counts.polls }))
  await until('both to poll the queue', () => before.every(({ counts, polls }) => counts.polls >= polls + POLLS))
  release()
  await until('it to leave the queue', () => isQueueEmpty(service))
  assert.is(one.counts.sent + other.counts.sent, 1)
  assert.is(postbox.accepted.length, 1)
})

/** A log that rejects MailSent events while it is full. */
function rejectMailSent(log: { isFull: boolean }) {
  return (store: EventStore): EventStore =>
    new Proxy(store, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name)
        if (typeof value !== 'function') return value
        if (name !== 'append') return value.bind(of)
        return async (...args: Parameters<EventStore['append']>) => {
          if (log.isFull && args[2].some(({ type }) => type === 'MailSent'))
            throw new StoreUnavailable('the log is full')
          return of.append(...args)
        }
      },
    })
}

/** More renewals than a claim could miss before it expires (src/reactions/mail/mail-claims.ts). */
const RENEWALS = 6

if (process.env['ADAMANT_FULL'] === '1') {
  test('is sent once while its outcome cannot be stored', async ({ postbox, start }) => {
    const log = { isFull: true }
    const [one, other] = [countingOverrides(), countingOverrides()]
    const service = await start({ store: rejectMailSent(log), installation: one.installation })
    await start({ store: rejectMailSent(log), installation: other.installation })
    await shared(service.url, await newSender(service.installation), { secret: 'x', recipient: 'tom@example.com' })
    await until('it to be sent', () => postbox.accepted.length > 0)
    await until('its claim to be renewed', () => one.counts.renewals + other.counts.renewals >= RENEWALS)
    log.isFull = false
    await until('it to leave the queue', () => isQueueEmpty(service))
    assert.is(postbox.accepted.length, 1)
  })
}

test.run()
