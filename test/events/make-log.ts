/**
 * Creates a log for record.ts with the events that only a running service writes:
 * `npm run build && node --import tsx test/events/make-log.ts FOLDER`. FOLDER must not exist.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { attached } from '../api/harness/form.ts'
import { openPostbox, SmtpRefusal } from '../api/harness/postbox.ts'
import { expect } from '../api/harness/request.ts'
import { newSender, shared } from '../api/harness/secrets.ts'
import { startService, type Service } from '../api/harness/service.ts'
import { created } from '../api/harness/stones.ts'
import { diamonds } from '../../src/projections/diamonds/diamonds.ts'
import { fixture, reportNamed } from '../fixtures/reports/reports.ts'
import { until } from '../until.ts'

const [dataDir] = process.argv.slice(2)
if (dataDir === undefined || existsSync(dataDir)) throw new Error('name a folder that does not exist yet')

const time = { ahead: 0 }
const postbox = await openPostbox()
postbox.refuse.recipient = (address) => {
  if (address.startsWith('nobody')) throw new SmtpRefusal(550, 'no such mailbox')
}
const settings = {
  MAILER: postbox.address,
  SECRETS_URL: 'https://secrets.example.com/',
  MAIL_FROM: 'no-reply@example.com',
}
const service = await startService({ dataDir, settings, scored: true, clock: () => Date.now() + time.ahead })
try {
  await scoredStoneWithReport(service)
  await mailedSecrets(service)
  await retriedStream(service)
} finally {
  await service.stop()
  await postbox.close()
}

async function scoredStoneWithReport(given: Service): Promise<void> {
  const { ann } = given
  const { id } = await created(ann, { sku: 'MSSRBC13', carat: 0.73 })
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 4200 }))
  await waitForEvent(given, 'DiamondScored')
  const gia = reportNamed('gia')
  await attached(ann, id, fixture(gia.file), '2136273512')
  await waitForEvent(given, 'ReportRead')
  // The proportions in the report cause a second scoring.
  await until('the measured scores', async () => (await given.installation.store.readStream(`scores-${id}`)).length > 1)
}

async function mailedSecrets(given: Service): Promise<void> {
  const ann = await newSender(given.installation)
  await shared(given.url, ann, { secret: 'x', recipient: 'tom@myspace.example' })
  await waitForEvent(given, 'MailSent')
  await shared(given.url, ann, { secret: 'x', recipient: 'nobody@myspace.example' })
  await waitForEvent(given, 'MailRefused')
  await shared(given.url, ann, { secret: 'x', ttl: '60' })
  time.ahead += 61_000
  await waitForEvent(given, 'SecretExpired')
}

/** Parks a stream, as a release that cannot fold it does, and retries it through the command line. */
async function retriedStream({ installation: { store, reads } }: Service): Promise<void> {
  const build = await reads.live(diamonds.declaration)
  const checkpoint = await build.checkpoint()
  const [event] = await store.readStream('diamond-1', { last: 1 })
  if (checkpoint === undefined || event === undefined) throw new Error('nothing was projected')
  const { id, stream, revision, position, type } = event
  await build.write([], checkpoint, [
    { stream, revision, position, event: id, type, reason: 'Error: cannot be folded' },
  ])
  const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
  const env = { ...process.env, DATA_DIR: dataDir }
  await once(spawn(process.execPath, [program, 'dead-letters', 'retry'], { env, stdio: 'inherit' }), 'exit')
}

/** Waits until the log has an event of this type. */
async function waitForEvent({ installation: { store } }: Service, wanted: string): Promise<void> {
  await until(wanted, async () => {
    for await (const { type } of store.readAll('start')) if (type === wanted) return true
    return false
  })
}
