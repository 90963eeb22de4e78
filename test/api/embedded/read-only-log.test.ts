import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openInstallation } from '../../../src/wiring/open-installation.ts'
import { findWriteRefusals, startService as serve } from '../../../src/wiring/service.ts'
import { readSettings } from '../../../src/wiring/settings.ts'
import { until } from '../../until.ts'
import { created, stone } from '../harness/stones.ts'
import { vendor } from '../harness/account.ts'
import { expect, refusal, request } from '../harness/request.ts'
import { startService } from '../harness/service.ts'

const test = suite('an event log that this user may not write')

/** Runs as a user without the privilege to write read-only files, if this process has it. */
async function unprivileged<Result>(folder: string, run: () => Promise<Result>): Promise<Result> {
  if (process.geteuid?.() !== 0) return run()
  // The test runner's folder is closed to other users.
  chmodSync(dirname(folder), 0o711)
  for (const name of ['', ...readdirSync(folder, { recursive: true }).map(String)])
    chownSync(join(folder, name), NOBODY, NOBODY)
  process.seteuid?.(NOBODY)
  try {
    return await run()
  } finally {
    process.seteuid?.(0)
  }
}

const NOBODY = 65_534
const REFUSED = /events\.db cannot be written: .*read-only: grant write permission/

test('is not ready and says why, serves reads, and is ready again once permission is granted', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-read-only-'))
  try {
    const before = await startService({ dataDir })
    const { id } = await created(before.ann)
    const { account, token } = before.ann
    await before.stop()
    await unprivileged(dataDir, async () => {
      chmodSync(join(dataDir, 'events.db'), 0o400)
      const installation = await openInstallation(readSettings({ DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent' }))
      const service = await serve(installation)
      try {
        await service.ready()
        const { url = '' } = service
        const ann = vendor(url, account, token)
        const waiting = expect(503, await request(url, { path: '/health/ready' }))
        assert.match((waiting.json() as { waiting: string[] }).waiting.join(), /^writes are refused;/)
        assert.not.match(waiting.text, dataDir)
        assert.match((await findWriteRefusals(installation)).join(), REFUSED)
        refusal(503, await ann.post('/v4/diamond', stone()))
        expect(200, await ann.get(`/v4/diamond/${id}`))
        expect(200, await ann.get('/v4/diamond'))
        // SQLite has created the two other files with the same permissions.
        for (const suffix of ['', '-wal', '-shm']) chmodSync(join(dataDir, `events.db${suffix}`), 0o600)
        await until(
          'the service to be ready',
          async () => (await request(url, { path: '/health/ready' })).status === 200,
        )
        expect(201, await ann.post('/v4/diamond', stone()))
      } finally {
        await service.stop()
      }
    })
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})

if (process.platform !== 'win32') test.run()
