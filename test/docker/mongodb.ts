import { MongoDBContainer } from '@testcontainers/mongodb'
import { hasDocker, type RealServer } from './docker.ts'

/** The one that ops/compose.yaml starts; another by MONGODB_IMAGE. */
const IMAGE = 'mongo:8.0'

/** One in a container, as a replica set of one member, so that a read of the majority is one; none where no Docker answers. */
export async function startMongoContainer(): Promise<RealServer | undefined> {
  if (!(await hasDocker())) return undefined
  const name = process.env['MONGODB_IMAGE'] ?? IMAGE
  const container = await new MongoDBContainer(name).start()
  return {
    name,
    // The set calls its member by a name that is known in the container alone.
    url: `${container.getConnectionString()}/?directConnection=true`,
    stop: async () => void (await container.stop()),
  }
}
