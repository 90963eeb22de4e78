import { openMongo } from '../../../src/stores/mongodb/mongodb.ts'
import type { Bench, Case, CaseGroup } from '../../group.ts'
import { startMongo } from '../../services/mongodb.ts'
import { bareDiamonds, connectBare } from './mongodb/bare.ts'
import { fileWrites, fileReads } from './mongodb/files.ts'
import { firstPage, readsById } from './mongodb/reading.ts'
import { batchesOfChanges, batchesOfNew, batchesAsUpserts } from './mongodb/writing.ts'
import { diamonds } from '../../../src/projections/diamonds/diamonds.ts'

/** Overhead of the MongoDB adapter over its driver, on one server in one run. */
export const mongodb: CaseGroup = { name: 'mongodb', isLong: true, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const server = await startMongo()
  const stores = openMongo(server.database)
  const client = await connectBare(server.database)
  bench.finally(async () => {
    await stores.close()
    await client.close()
    await server.stop()
  })
  const { reads, files } = stores
  const fresh = async () => ({ build: await reads.begin(diamonds.declaration), bare: await bareDiamonds(client.db()) })
  const live = { build: await reads.live(diamonds.declaration), bare: await bareDiamonds(client.db()) }
  return [
    batchesOfNew(await fresh()),
    batchesAsUpserts(await fresh()),
    await batchesOfChanges(await fresh()),
    await readsById(live, await reads.model(diamonds.declaration)),
    firstPage(live, await reads.model(diamonds.declaration)),
    fileWrites(files, client.db()),
    await fileReads(files, client.db()),
  ]
}
