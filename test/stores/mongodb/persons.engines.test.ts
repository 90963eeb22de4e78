import { connect } from '../../../src/stores/mongodb/connection.ts'
import { personsIn } from '../../../src/stores/mongodb/mongodb.ts'
import { personsContract } from '../../contract/persons.ts'
import { mongoServers } from '../../mongo-server.ts'

for (const server of await mongoServers('persons in MongoDB')) {
  personsContract(`persons in MongoDB: ${server.name}`, async () => {
    const address = server.newDatabase()
    const mongo = connect(address)
    return {
      ...personsIn(mongo),
      async close() {
        await mongo.close()
        await server.drop(address)
      },
    }
  })
}
