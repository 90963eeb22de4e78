import { connect, type MongoDatabase } from '../../../src/stores/mongodb/connection.ts'
import { createMongoReadStore } from '../../../src/stores/mongodb/documents.ts'
import { POINTER_CACHE_MS } from '../../../src/stores/mongodb/documents/pointers.ts'
import { readStoreContract } from '../../contract/read-store.ts'
import { mongoServers } from '../../mongo-server.ts'

for (const server of await mongoServers('read models in MongoDB')) {
  readStoreContract(`MongoDB: ${server.name}`, async () => {
    const address = server.newDatabase()
    const connections: MongoDatabase[] = []
    let time = 0
    const openAnother = async () => {
      const mongo = connect(address)
      connections.push(mongo)
      return createMongoReadStore(mongo, { now: () => time })
    }
    return {
      store: await openAnother(),
      openAnother,
      changesVisible: async () => void (time += POINTER_CACHE_MS),
      async close() {
        for (const mongo of connections) await mongo.close()
        await server.drop(address)
      },
    }
  })
}
