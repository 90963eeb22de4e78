import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { attached, pathOf } from '../api/harness/form.ts'
import { expect } from '../api/harness/request.ts'
import { expectUnknownSecret, newSender, post, reveal, shared } from '../api/harness/secrets.ts'
import { created } from '../api/harness/stones.ts'
import { startPeer } from '../eventstoredb/peer/peer.ts'
import { installationSuite } from './backup/temporary-installation.ts'

const test = installationSuite('the vault and files of an installation')

/** Hides warnings, so that stderr only has the error. */
const quiet = { PORT: '0', LOG_LEVEL: 'error' }

test('are refused at the start if they belong to another installation, in one line that names both', async ({
  installation,
}) => {
  const peer = await startPeer()
  try {
    const settings = { EVENT_STORE: peer.url, MASTER_KEY: randomBytes(32).toString('base64') }
    const service = await installation.serve(undefined, settings)
    const otherDataDir = installation.pathOf('other')
    for (const ROLES of ['http', 'projections', 'http,projections']) {
      const { code, err } = await installation.run(['serve'], { ...settings, DATA_DIR: otherDataDir, ROLES, ...quiet })
      assert.is(code, 1)
      const lines = err.trim().split('\n')
      assert.is(lines.length, 1, err)
      assert.ok(
        lines[0]?.startsWith('adamant: ') && lines[0].includes(installation.dataDir) && lines[0].includes(otherDataDir),
        err,
      )
    }
    await service.stop()
    await (await installation.serve(undefined, settings)).stop()
  } finally {
    await peer.stop()
  }
})

test('are recorded by a move: a service with other ones is refused until restore --in-place', async ({
  installation,
}) => {
  const service = await installation.serve()
  await created(service.ann)
  await service.stop()
  const to = installation.pathOf('moved')
  await installation.json(['move', '--yes', '--from', `sqlite:${installation.dataDir}`, '--to', `sqlite:${to}`])
  rmSync(join(to, 'files'), { recursive: true })
  const { code, err } = await installation.run(['serve'], { DATA_DIR: to, ...quiet })
  assert.is(code, 1)
  assert.match(err, /^adamant: The log's vault and files are in .*, but DATA_DIR and READ_MODEL name /)
  await installation.json(['restore', '--in-place'], { DATA_DIR: to })
  await (await installation.serve(to)).stop()
})

test('that were lost cause status 503 for their contents, and a deleted vault is created again', async ({
  installation,
}) => {
  const service = await installation.serve()
  const { id } = await created(service.ann)
  const file = pathOf((await attached(service.ann, id)).file)
  const sender = await newSender(service.installation)
  const waiting = await shared(service.url, sender, { secret: 'waiting' })
  const withPassphrase = await shared(service.url, sender, { secret: 'guarded', passphrase: 'open sesame' })
  await service.stop()
  for (const name of ['vault.db', 'vault.db-wal', 'vault.db-shm'])
    rmSync(join(installation.dataDir, name), { force: true })

  const restarted = await installation.serve()
  const folder = join(installation.dataDir, 'files')
  for (const name of readdirSync(folder))
    if (/^[0-9a-f]{2}$/.test(name)) rmSync(join(folder, name), { recursive: true })
  for (const method of ['GET', 'HEAD']) {
    const response = expect(503, await restarted.send({ method, path: file }))
    assert.ok(Number(response.headers['retry-after']) > 0)
  }
  expect(503, await reveal(restarted.url, waiting.secret_key))
  expect(503, await reveal(restarted.url, withPassphrase.secret_key, 'open sesame'))
  expect(503, await restarted.send({ path: `/secret/${waiting.secret_key}` }))
  expect(503, await post(restarted.url, `private/${withPassphrase.metadata_key}/burn?passphrase=open%20sesame`))
  expect(200, await post(restarted.url, `private/${waiting.metadata_key}/burn`))
  expectUnknownSecret(await reveal(restarted.url, waiting.secret_key), waiting.secret_key)
  const unknownKey = 'x'.repeat(waiting.secret_key.length)
  expectUnknownSecret(await reveal(restarted.url, unknownKey), unknownKey)
})

test.run()
