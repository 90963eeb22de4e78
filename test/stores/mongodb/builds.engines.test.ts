import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { connect, type MongoDatabase } from '../../../src/stores/mongodb/connection.ts'
import { createMongoReadStore } from '../../../src/stores/mongodb/documents.ts'
import { progressesIn } from '../../../src/stores/mongodb/documents/progress.ts'
import { StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import type { Lease, ReadStore } from '../../../src/stores/ports/read-store.ts'
import { at, diamond, diamonds, idsIn, letter, put } from '../../contract/read-store/model.ts'
import { mongoServer } from '../../mongo-server.ts'
import { until } from '../../until.ts'

const server = await mongoServer('read model builds in MongoDB')

type Given = { address: string; mongo: MongoDatabase; reads: ReadStore; scheduled: [() => void, number][] }
const test = suite<Given>('a read model build in MongoDB')

test.before.each((given) => {
  given.address = server?.newDatabase() ?? ''
  given.mongo = connect(given.address)
  given.scheduled = []
  given.reads = createMongoReadStore(given.mongo, { schedule: (action, ms) => void given.scheduled.push([action, ms]) })
})
test.after.each(async ({ mongo, address }) => {
  await mongo.close()
  await server?.drop(address)
})

const collections = async ({ db }: MongoDatabase) =>
  (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name).filter((n) => n.includes('_v'))

test('is deleted entirely 60 s after another build was promoted', async ({ mongo, reads, scheduled }) => {
  const old = await reads.live(diamonds)
  await old.write([put(diamond(1))], at(1), [letter('diamond-9', 1)])
  const next = await reads.begin(diamonds)
  await next.write([put(diamond(2))], at(1))
  await reads.promote(diamonds, next)
  assert.ok((await collections(mongo)).some((name) => name.includes(old.id)))
  const [[retire, ms] = []] = scheduled
  assert.is(ms, 60_000)
  retire?.()
  await deleted(mongo, old.id)
  assert.equal(await idsIn(reads), [2])
  assert.is(await mongo.db.collection('dead_letters').countDocuments(), 0)
})

test('that a killed runner left unfinished is deleted by the next rebuild, but not one in progress', async (given) => {
  const { mongo, reads } = given
  await (await reads.live(diamonds)).write([put(diamond(1))], at(1))
  const [abandoned, filling] = [await reads.begin(diamonds), await reads.begin(diamonds)]
  await abandoned.write([put(diamond(2))], at(1))
  const long = Date.now() - 2 * 3_600_000
  await progressesIn(mongo.db).updateMany({}, { $set: { changedAt: long } })
  await createMongoReadStore(mongo).begin({ ...diamonds, version: 2 })
  assert.ok((await collections(mongo)).some((name) => name.includes(abandoned.id)))
  await progressesIn(mongo.db).updateOne({ _id: filling.id }, { $set: { changedAt: Date.now() } })
  await reads.begin(diamonds)
  await deleted(mongo, abandoned.id)
  assert.ok((await collections(mongo)).some((name) => name.includes(filling.id)))
  assert.equal(await idsIn(reads), [1])
})

test('cannot be promoted by a process that lost its lease to another one', async ({ mongo, address }) => {
  const time = { now: 0 }
  const other = connect(address)
  try {
    const [stopped, successor] = [createMongoReadStore(mongo), createMongoReadStore(other, { now: () => time.now })]
    assert.ok(await stopped.acquireLease(diamonds))
    const live = await stopped.live(diamonds)
    const late = await stopped.begin(diamonds)
    // The heartbeat stops, as in a process that is stopped.
    await stopped.close()
    let lease: Lease | undefined
    for (let attempts = 0; lease === undefined && attempts < 12; attempts++) {
      time.now += 500
      lease = await successor.acquireLease(diamonds)
    }
    assert.ok(lease)
    await fails(stopped.promote(diamonds, late), StoreUnavailable)
    assert.is(await successor.isLive(diamonds, live), true)
    const next = await successor.begin(diamonds)
    await successor.promote(diamonds, next)
    assert.is(await successor.isLive(diamonds, next), true)
    await fails(stopped.promote(diamonds, late), StoreUnavailable)
    await lease?.release()
  } finally {
    await other.close()
  }
})

test('can be promoted by the holder of the lease after the leases were dropped manually', async (given) => {
  const { mongo, reads } = given
  for (let times = 0; times < 3; times++) await (await reads.acquireLease(diamonds))?.release()
  await reads.live(diamonds)
  await (await reads.acquireLease(diamonds))?.release()
  await mongo.db.collection('leases').drop()
  const other = createMongoReadStore(mongo)
  const lease = await other.acquireLease(diamonds)
  const next = await other.begin(diamonds)
  await other.promote(diamonds, next)
  assert.is(await other.isLive(diamonds, next), true)
  await lease?.release()
})

async function fails(work: Promise<unknown>, kind: typeof StoreUnavailable): Promise<void> {
  try {
    await work
  } catch (error) {
    return assert.instance(error, kind)
  }
  assert.unreachable('it did not fail')
}

test('is created again after it was dropped manually', async ({ mongo, reads }) => {
  const build = await reads.live(diamonds)
  await build.write([put(diamond(1))], at(1))
  await progressesIn(mongo.db).deleteMany({})
  const recreated = await reads.live(diamonds)
  assert.is.not(recreated.id, build.id)
  assert.is(await recreated.checkpoint(), undefined)
  assert.equal(await idsIn(reads), [])
})

const deleted = (mongo: MongoDatabase, id: string): Promise<void> =>
  until(`the build ${id} to be deleted`, async () => !(await collections(mongo)).some((name) => name.includes(id)))

if (server !== undefined) test.run()
