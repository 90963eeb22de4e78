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

type Given = { dataDir: string; postbox: Postbox; services: Service[]; start(overrides: Overrides): Promise<Service> }
const test = suite<Given>('a mail of an installation with two servers')

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

/** Milliseconds that the mail server takes, and in which another server would have sent it a second time. */
const SLOW = 1_500
const AFTER = 1_500

test('is sent once by those whose clocks are 16 s apart', async ({ postbox, start }) => {
  postbox.slow = SLOW
  const one = await start({})
  await start({ clock: () => Date.now() + 16_000 })
  await shared(one.url, await newSender(one.installation), { secret: 'x', recipient: 'tom@example.com' })
  await until('it to be sent', () => postbox.accepted.length > 0)
  await new Promise((done) => setTimeout(done, SLOW + AFTER))
  assert.is(postbox.accepted.length, 1)
})

/** A log that takes everything but the outcome of mails, until it has room again. */
function forgettingMails(log: { isFull: boolean }) {
  return (store: EventStore): EventStore =>
    new Proxy(store, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name)
        if (typeof value !== 'function') return value
        if (name !== 'append') return value.bind(of)
        return async (...given: Parameters<EventStore['append']>) => {
          if (log.isFull && given[2].some(({ type }) => type === 'MailSent')) throw new StoreUnavailable('no room')
          return of.append(...given)
        }
      },
    })
}

/** Milliseconds: longer than a claim lasts that nobody renews. */
const FULL = 20_000

if (process.env['ADAMANT_FULL'] === '1') {
  test('is sent once while its outcome can not be recorded', async ({ postbox, start }) => {
    const log = { isFull: true }
    const one = await start({ store: forgettingMails(log) })
    await start({ store: forgettingMails(log) })
    await shared(one.url, await newSender(one.installation), { secret: 'x', recipient: 'tom@example.com' })
    await until('it to be sent', () => postbox.accepted.length > 0)
    await new Promise((done) => setTimeout(done, FULL))
    log.isFull = false
    await until('it to leave the queue', async () => (await one.installation.vault.nextMail()) === undefined)
    assert.is(postbox.accepted.length, 1)
  })
}

test.run()
