import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { vendor } from '../api/harness/account.ts'
import { openPostbox, until } from '../api/harness/postbox.ts'
import { expect } from '../api/harness/request.ts'
import { newSender, reveal, shared } from '../api/harness/secrets.ts'
import { startService } from '../api/harness/service.ts'
import { created } from '../api/harness/stones.ts'
import { BUILT, startServer } from './server-process.ts'

const test = suite("a service whose machine's clock is 30 days ahead for a moment")

/** Milliseconds in which each work that looks at the time has done so. */
const LOOKED = 2_500
const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms))

const SET_CLOCK = fileURLToPath(new URL('set-clock.ts', import.meta.url))

test('ends nothing before its time, and leaves nothing in the future', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-clock-'))
  const postbox = await openPostbox()
  const setUp = await startService({ dataDir })
  const sender = await newSender(setUp.installation)
  const { account, token } = setUp.ann
  await setUp.stop()
  const settings = { MAILER: postbox.address, LOG_LEVEL: 'warn' }
  const service = await startServer(dataDir, settings, ['--import', 'tsx', '--import', SET_CLOCK, ...BUILT])
  try {
    const { url, pid } = service
    const ann = vendor(url, account, token)
    const waits = await shared(url, sender, { secret: 'waits', ttl: '3600' })
    const before = Date.now()
    process.kill(pid, 'SIGUSR2')
    await pause(LOOKED)
    const stone = await created(ann)
    assert.ok(Math.abs(Date.parse(String(stone['date'])) - before) < 60_000, `created at ${String(stone['date'])}`)
    await shared(url, sender, { secret: 'meanwhile', recipient: 'tom@example.com' })
    process.kill(pid, 'SIGUSR2')
    await shared(url, sender, { secret: 'later', recipient: 'tim@example.com' })
    await until('both mails', () => postbox.accepted.length === 2, 10_000)
    const read = expect(200, await reveal(url, waits.secret_key))
    assert.is((read.json() as { value: string }).value, 'waits')
    assert.match(service.said(), "the system's clock was set")
  } finally {
    await service.kill()
    await postbox.close()
    rmSync(dataDir, { recursive: true })
  }
})

test.run()
