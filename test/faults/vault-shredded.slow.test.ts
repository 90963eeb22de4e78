import { statSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseSecretKeyDigest } from '../../src/credentials/secret-keys.ts'
import { newSender, shared } from '../api/harness/secrets.ts'
import { startService } from '../api/harness/service.ts'
import { withOutage, type Outage } from './outage.ts'
import { until } from '../until.ts'

const test = suite('a vault whose event log is unavailable')

async function assertShredded(fault: 'unavailable' | 'hangs'): Promise<void> {
  const outage: Outage = { fault: 'none', failedCalls: 0 }
  const time = { ahead: 0 }
  const service = await startService({
    clock: () => Date.now() + time.ahead,
    installation: (opened) => withOutage(opened, 'store', outage),
  })
  const { vault } = service.installation
  const sender = await newSender(service.installation)
  await shared(service.url, sender, { secret: 'expires', ttl: '60' })
  const read = await shared(service.url, sender, { secret: 'was read' })
  outage.fault = fault
  time.ahead = 120_000
  // As if the job that ends secrets had read the event just before the outage.
  await vault.end([{ digest: parseSecretKeyDigest(read.secret_key) ?? '' }])
  const wal = join(service.dataDir, 'vault.db-wal')
  assert.ok(statSync(wal).size > 0)
  await until('the WAL to be emptied', () => statSync(wal).size === 0)
  outage.fault = 'none'
  await service.stop()
}

test('is shredded in time even if an expired secret cannot be ended', async () => {
  await Promise.all([assertShredded('unavailable'), assertShredded('hangs')])
})

test.run()
