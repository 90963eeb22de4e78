import { connect } from '../../../src/stores/mongodb/connection.ts'
import { personsIn } from '../../../src/stores/mongodb/persons.ts'
import { personsContract } from '../../contract/persons.ts'
import { mongoServer } from '../../mongo-server.ts'

const server = await mongoServer('persons in MongoDB')

if (server !== undefined) {
  personsContract('persons in MongoDB', async () => {
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
