import { connect } from '../../../src/stores/mongodb/connection.ts'
import { vaultIn } from '../../../src/stores/mongodb/vault.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { vaultContract } from '../../contract/vault.ts'
import { mongoServers } from '../../mongo-server.ts'

for (const server of await mongoServers('the vault in MongoDB')) {
  vaultContract(`the vault in MongoDB: ${server.name}`, async () => {
    const address = server.newDatabase()
    const mongo = connect(address)
    return {
      ...vaultIn(mongo),
      async close() {
        await mongo.close()
        await server.drop(address)
      },
    }
  })

  const test = suite(`an existing vault in MongoDB: ${server.name}`)

  test('keeps its entries when it is opened again', async () => {
    const address = server.newDatabase()
    const entry = { digest: 'aa', sealed: Buffer.alloc(20), createdAt: 1, expiresAt: 2, receipt: null }
    for (const digest of ['aa', 'bb', 'cc']) {
      const mongo = connect(address)
      await vaultIn(mongo).put({ ...entry, digest }, [])
      assert.equal(await vaultIn(mongo).readSecret('aa'), entry.sealed)
      await mongo.close()
    }
    await server.drop(address)
  })

  test.run()
}
