import { GenericContainer, Wait } from 'testcontainers'
import { hasDocker, type RealServer } from './docker.ts'

/** The newest server that the client's last release supports; EVENTSTOREDB_IMAGE overrides it. */
const IMAGE = 'eventstore/eventstore:23.10.6-jammy'

/**
 * The server at EVENTSTOREDB_URL, or one in a container if Docker is available, or none. It prints which; the test runner
 * shows lines with `NOTE`.
 */
export async function findRealServer(): Promise<RealServer | undefined> {
  const url = process.env['EVENTSTOREDB_URL']
  if (url !== undefined && url !== '') {
    console.log('NOTE the event store contract runs on the peer and on the server at EVENTSTOREDB_URL')
    return { name: 'the server at EVENTSTOREDB_URL', url, stop: async () => {} }
  }
  if (!(await hasDocker())) {
    console.log(
      'NOTE no real EventStoreDB: EVENTSTOREDB_URL is not set and Docker is not available; the contract runs on the peer only',
    )
    return undefined
  }
  const image = process.env['EVENTSTOREDB_IMAGE'] ?? IMAGE
  const container = await new GenericContainer(image)
    .withEnvironment({ EVENTSTORE_INSECURE: 'true', EVENTSTORE_MEM_DB: 'true', EVENTSTORE_RUN_PROJECTIONS: 'All' })
    .withExposedPorts(2113)
    .withWaitStrategy(Wait.forHttp('/health/live', 2113).forStatusCode(204))
    .start()
  console.log(`NOTE the event store contract runs on the peer and on ${image}`)
  return {
    name: image,
    url: `esdb://${container.getHost()}:${container.getMappedPort(2113)}?tls=false`,
    stop: async () => void (await container.stop()),
  }
}
