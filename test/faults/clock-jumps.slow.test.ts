import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { vendor, type Vendor } from '../api/harness/account.ts'
import { revokeToken } from '../../src/commands/sessions/token-introspection.ts'
import { AccessTokens } from '../../src/credentials/access-tokens.ts'
import type { Installation } from '../../src/wiring/installation.ts'
import { openPostbox, SmtpRefusal } from '../api/harness/postbox.ts'
import { expect, request } from '../api/harness/request.ts'
import { expectUnknownSecret, newSender, reveal, shared } from '../api/harness/secrets.ts'
import { startService } from '../api/harness/service.ts'
import { created } from '../api/harness/stones.ts'
import { BUILT, startServer, type ServerProcess } from './server-process.ts'
import { until } from '../until.ts'

const test = suite('a service whose system clock is temporarily 30 days ahead')

/** Background jobs that check the time about every second. */
const TIMED_JOBS = ['secrets-expiring', 'mails', 'files-due']

const SET_CLOCK = fileURLToPath(new URL('set-clock.js', import.meta.url))

test('expires nothing early and stores no time in the future', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-clock-'))
  const postbox = await openPostbox()
  const setUp = await startService({ dataDir })
  const sender = await newSender(setUp.installation)
  const { account, token } = setUp.ann
  await setUp.stop()
  const settings = { MAILER: postbox.address, LOG_LEVEL: 'warn' }
  const service = await startServer(dataDir, settings, ['--import', SET_CLOCK, ...BUILT])
  try {
    const { url, pid } = service
    const ann = vendor(url, account, token)
    const waits = await shared(url, sender, { secret: 'waits', ttl: '3600' })
    const before = Date.now()
    process.kill(pid, 'SIGUSR2')
    // The second run from now begins after the end of a complete one.
    await Promise.all(TIMED_JOBS.map((job) => waitForRuns(url, job, 2)))
    const stone = await created(ann)
    assert.ok(Math.abs(Date.parse(String(stone['date'])) - before) < 60_000, `created at ${String(stone['date'])}`)
    await shared(url, sender, { secret: 'meanwhile', recipient: 'tom@example.com' })
    process.kill(pid, 'SIGUSR2')
    await shared(url, sender, { secret: 'later', recipient: 'tim@example.com' })
    await until('both mails', () => postbox.accepted.length === 2)
    const read = expect(200, await reveal(url, waits.secret_key))
    assert.is((read.json() as { value: string }).value, 'waits')
    assert.match(service.output(), "the system's clock was set")
  } finally {
    await service.kill()
    await postbox.close()
    rmSync(dataDir, { recursive: true })
  }
})

test('rejects revoked tokens before, during and after the jump', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-clock-'))
  const setUp = await startService({ dataDir })
  const { ann, bob } = setUp
  await revoke(setUp.installation, bob.token)
  await setUp.stop()
  const service = await startServer(dataDir, { LOG_LEVEL: 'warn' }, ['--import', SET_CLOCK, ...BUILT])
  const statusFor = async ({ account, token }: Vendor) =>
    (await vendor(service.url, account, token).get('/v4/diamond')).status
  /** Advances the clock by two minutes and waits for the job that forgets expired tokens. */
  const twoMinutesPass = () =>
    waitForRuns(service.url, 'sessions-forgetting', 1, () => process.kill(service.pid, 'SIGHUP'))
  try {
    await until('the first run', async () => (await runsOf(service.url, 'sessions-forgetting')) > 0)
    assert.equal([await statusFor(ann), await statusFor(bob)], [204, 401], 'before')
    // A service forgets no tokens in its first ten minutes.
    for (let minutes = 0; minutes <= 10; minutes += 2) await twoMinutesPass()
    process.kill(service.pid, 'SIGUSR2')
    await twoMinutesPass()
    assert.equal([await statusFor(ann), await statusFor(bob)], [204, 401], 'during')
    process.kill(service.pid, 'SIGUSR2')
    await twoMinutesPass()
    assert.equal([await statusFor(ann), await statusFor(bob)], [204, 401], 'after')
    assert.match(service.output(), "the system's clock was set")
  } finally {
    await service.kill()
    rmSync(dataDir, { recursive: true })
  }
})

/** How often a background job of the service has started. */
async function runsOf(url: string, job: string): Promise<number> {
  const { text } = expect(200, await request(url, { path: '/metrics' }))
  const [, runs] = new RegExp(`^adamant_work_runs_total\\{work="${job}"\\} (\\d+)$`, 'm').exec(text) ?? []
  if (runs === undefined) throw new Error(`there is no job ${job}`)
  return Number(runs)
}

/** Waits until a background job has started `times` more times. @param afterFirstReading called after the first reading */
async function waitForRuns(url: string, job: string, times: number, afterFirstReading = () => {}): Promise<void> {
  const before = await runsOf(url, job)
  afterFirstReading()
  await until(`${job} to run`, async () => (await runsOf(url, job)) >= before + times)
}

/** Revokes an access token, as the revocation endpoint does. */
async function revoke({ context, keys, settings }: Installation, token: string): Promise<void> {
  const tokens = new AccessTokens({ keys, ttl: settings.TOKEN_TTL, clock: context.clock })
  const claims = tokens.verify(token)
  if (typeof claims === 'string') throw new Error(claims)
  const silentLog = { note: () => {}, security: () => {} }
  const sessions = { ...context, ...silentLog, tokens, refreshTtl: settings.REFRESH_TTL, logEpoch: () => 0 }
  const origin = { actor: 'tests', via: 'http', correlation: 'test' } as const
  await revokeToken(sessions, { token, client: claims.client }, origin)
}

/** A folder with a sender, and a mail server that postpones every mail. */
async function prepareRefusedMails() {
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-clock-'))
  const postbox = await openPostbox()
  const setUp = await startService({ dataDir })
  const sender = await newSender(setUp.installation)
  await setUp.stop()
  const settings = { MAILER: postbox.address, LOG_LEVEL: 'warn' }
  const program = ['--import', SET_CLOCK, ...BUILT]
  postbox.refuse.message = () => {
    throw new SmtpRefusal(451, 'later')
  }
  return { dataDir, postbox, sender, settings, program }
}

test('sends after a restart the mails that were postponed while the clock was ahead', async () => {
  const { dataDir, postbox, sender, settings, program } = await prepareRefusedMails()
  const aheadServer = await startServer(dataDir, { ...settings, CLOCK_IS_AHEAD: 'yes' }, program)
  try {
    await shared(aheadServer.url, sender, { secret: 'ahead', recipient: 'tom@example.com' })
    await until('an attempt', () => aheadServer.output().includes('a mail could not be sent; trying again later'))
  } finally {
    await aheadServer.stop()
  }
  postbox.refuse.message = () => undefined
  const service = await startServer(dataDir, settings, program)
  try {
    await until('the mail', () => postbox.accepted.length === 1)
  } finally {
    await service.kill()
    await postbox.close()
    rmSync(dataDir, { recursive: true })
  }
})

/** A service that has shared a secret for an hour, and postponed the mail with the link to it. */
async function startWithWaitingSecret() {
  const { dataDir, postbox, sender, settings, program } = await prepareRefusedMails()
  const service = await startServer(dataDir, settings, program)
  const waits = await shared(service.url, sender, { secret: 'waits', ttl: '3600', recipient: 'tom@example.com' })
  await until('an attempt', () => service.output().includes('a mail could not be sent; trying again later'))
  await service.stop()
  postbox.refuse.message = () => undefined
  const started: ServerProcess[] = []
  return {
    waits,
    postbox,
    async start(env: Readonly<Record<string, string>> = {}) {
      const again = await startServer(dataDir, { ...settings, ...env }, program)
      started.push(again)
      return again
    },
    async remove() {
      await Promise.all(started.map((one) => one.kill()))
      await postbox.close()
      rmSync(dataDir, { recursive: true })
    },
  }
}

test('since its start expires no secret permanently, and no mail with a link to one', async () => {
  const { waits, postbox, start, remove } = await startWithWaitingSecret()
  try {
    const ahead = await start({ CLOCK_IS_AHEAD: 'yes', LOG_LEVEL: 'info' })
    await Promise.all(TIMED_JOBS.map((job) => waitForRuns(ahead.url, job, 2)))
    expectUnknownSecret(await reveal(ahead.url, waits.secret_key), waits.secret_key)
    assert.match(ahead.output(), "the system's clock is ahead of the newest event in the log")
    await ahead.stop()
    assert.equal(postbox.accepted, [])
    const service = await start()
    await until('the mail', () => postbox.accepted.length === 1)
    const read = expect(200, await reveal(service.url, waits.secret_key))
    assert.is((read.json() as { value: string }).value, 'waits')
  } finally {
    await remove()
  }
})

test('since its start expires secrets once the clock has stayed as it is for five minutes', async () => {
  const { waits, start, remove } = await startWithWaitingSecret()
  try {
    const ahead = await start({ CLOCK_IS_AHEAD: 'yes' })
    for (let minutes = 0; minutes < 6; minutes += 2)
      await waitForRuns(ahead.url, 'secrets-expiring', 2, () => process.kill(ahead.pid, 'SIGHUP'))
    await ahead.stop()
    const service = await start()
    expectUnknownSecret(await reveal(service.url, waits.secret_key), waits.secret_key)
  } finally {
    await remove()
  }
})

test.run()
