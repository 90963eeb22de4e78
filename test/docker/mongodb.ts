import { MongoDBContainer } from '@testcontainers/mongodb'
import { hasDocker, type RealServer } from './docker.ts'

/** The image of ops/compose.yaml; MONGODB_IMAGE overrides it. */
const IMAGE = 'mongo:8.0'

/** Starts MongoDB in a container as a replica set of one member, for majority reads; undefined without Docker. */
export async function startMongoContainer(): Promise<RealServer | undefined> {
  if (!(await hasDocker())) return undefined
  const name = process.env['MONGODB_IMAGE'] ?? IMAGE
  const container = await new MongoDBContainer(name).start()
  return {
    name,
    // The replica set announces its member by a host name that resolves only in the container.
    url: `${container.getConnectionString()}/?directConnection=true`,
    stop: async () => void (await container.stop()),
  }
}
