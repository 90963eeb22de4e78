import { connect } from '../../../src/stores/mongodb/connection.ts'
import { createMongoReadStore } from '../../../src/stores/mongodb/documents.ts'
import { diamondListsContract } from '../../contract/diamond-lists.ts'
import { mongoServers } from '../../mongo-server.ts'

for (const server of await mongoServers('lists of diamonds in MongoDB')) {
  diamondListsContract(`MongoDB: ${server.name}`, async () => {
    const address = server.newDatabase()
    const mongo = connect(address)
    const store = createMongoReadStore(mongo)
    return {
      store,
      openAnother: async () => store,
      changesVisible: async () => undefined,
      async close() {
        await mongo.close()
        await server.drop(address)
      },
    }
  })
}
