import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { form, newSender } from '../../api/harness/secrets.ts'
import { startService } from '../../api/harness/service.ts'
import { startMongoProxy } from '../../mongo-proxy/proxy.ts'
import { mongoServer } from '../../mongo-server.ts'
import { until } from '../../until.ts'

const server = await mongoServer('slow creation of indexes')
const test = suite('a service whose MongoDB creates indexes slowly')

/** Number of the vault's indexes that are created before one takes longer than a call's timeout. */
const CREATED = 4

test('rejects secrets until all indexes are created, each once', async () => {
  const address = server?.newDatabase() ?? ''
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-indexes-'))
  const former = await startService({ dataDir, settings: { READ_MODEL: address } })
  const { authorization } = await newSender(former.installation)
  await former.stop()
  await dropVaultIndexes(address)
  const proxy = await startMongoProxy(address)
  const requested: string[] = []
  let finish = () => {}
  const finished = new Promise<void>((done) => (finish = done))
  proxy.rule((name, body) => {
    if (name !== 'createIndexes' || !String(body[name]).startsWith('vault_')) return undefined
    requested.push(JSON.stringify([body[name], body['indexes']]))
    return requested.length > CREATED ? { until: finished } : undefined
  })
  // Without projections, which wait until the vault was compared with the log.
  const settings = { READ_MODEL: proxy.address, ROLES: 'http' }
  const service = await startService({ dataDir, settings, vendors: former })
  try {
    const share = form('/api/v1/share', 'secret=x', authorization)
    await until('a share to be rejected', async () => (await service.send(share)).status === 503)
    finish()
    await until('a share to be accepted', async () => (await service.send(share)).status === 200)
    const repeated = requested.slice(CREATED).filter((index) => requested.indexOf(index) < CREATED)
    assert.equal(repeated, [], 'an index was created twice')
  } finally {
    await service.stop()
    await proxy.stop()
    await server?.drop(address)
    rmSync(dataDir, { recursive: true, force: true })
  }
})

/** As before an upgrade that adds these indexes. */
async function dropVaultIndexes(address: string): Promise<void> {
  const client = await MongoClient.connect(address)
  try {
    const collections = await client.db().collections()
    const vault = collections.filter(({ collectionName }) => collectionName.startsWith('vault_'))
    assert.ok(vault.length > 0)
    for (const collection of vault) await collection.dropIndexes()
  } finally {
    await client.close()
  }
}

if (server !== undefined) test.run()
