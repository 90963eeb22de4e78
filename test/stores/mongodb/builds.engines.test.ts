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

const server = await mongoServer('builds in MongoDB')

type Given = { address: string; mongo: MongoDatabase; reads: ReadStore; later: [() => void, number][] }
const test = suite<Given>('a build in MongoDB')

test.before.each((given) => {
  given.address = server?.newDatabase() ?? ''
  given.mongo = connect(given.address)
  given.later = []
  given.reads = createMongoReadStore(given.mongo, { schedule: (action, ms) => void given.later.push([action, ms]) })
})
test.after.each(async ({ mongo, address }) => {
  await mongo.close()
  await server?.drop(address)
})

const collections = async ({ db }: MongoDatabase) =>
  (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name).filter((n) => n.includes('_v'))

test('goes with everything of it a minute after another became the live one', async ({ mongo, reads, later }) => {
  const old = await reads.live(diamonds)
  await old.write([put(diamond(1))], at(1), [letter('diamond-9', 1)])
  const next = await reads.begin(diamonds)
  await next.write([put(diamond(2))], at(1))
  await reads.promote(diamonds, next)
  assert.ok((await collections(mongo)).some((name) => name.includes(old.id)))
  const [[retire, ms] = []] = later
  assert.is(ms, 60_000)
  retire?.()
  await gone(mongo, old.id)
  assert.equal(await idsIn(reads), [2])
  assert.is(await mongo.db.collection('dead_letters').countDocuments(), 0)
})

test('that a killed runner left half filled goes with the next rebuild, not one that is being filled', async (given) => {
  const { mongo, reads } = given
  await (await reads.live(diamonds)).write([put(diamond(1))], at(1))
  const [left, filling] = [await reads.begin(diamonds), await reads.begin(diamonds)]
  await left.write([put(diamond(2))], at(1))
  const long = Date.now() - 2 * 3_600_000
  await progressesIn(mongo.db).updateMany({}, { $set: { changedAt: long } })
  await createMongoReadStore(mongo).begin({ ...diamonds, version: 2 })
  assert.ok((await collections(mongo)).some((name) => name.includes(left.id)))
  await progressesIn(mongo.db).updateOne({ _id: filling.id }, { $set: { changedAt: Date.now() } })
  await reads.begin(diamonds)
  await gone(mongo, left.id)
  assert.ok((await collections(mongo)).some((name) => name.includes(filling.id)))
  assert.equal(await idsIn(reads), [1])
})

test('is made the live one by nobody whose lease another process has taken meanwhile', async ({ mongo, address }) => {
  const time = { now: 0 }
  const other = connect(address)
  try {
    const [stopped, heir] = [createMongoReadStore(mongo), createMongoReadStore(other, { now: () => time.now })]
    assert.ok(await stopped.acquireLease(diamonds))
    const live = await stopped.live(diamonds)
    const late = await stopped.begin(diamonds)
    // Its heartbeat ends, as that of a process that stands still.
    await stopped.close()
    let taken: Lease | undefined
    for (let looks = 0; taken === undefined && looks < 12; looks++) {
      time.now += 500
      taken = await heir.acquireLease(diamonds)
    }
    assert.ok(taken)
    await fails(stopped.promote(diamonds, late), StoreUnavailable)
    assert.is(await heir.isLive(diamonds, live), true)
    const next = await heir.begin(diamonds)
    await heir.promote(diamonds, next)
    assert.is(await heir.isLive(diamonds, next), true)
    await fails(stopped.promote(diamonds, late), StoreUnavailable)
    await taken?.release()
  } finally {
    await other.close()
  }
})

test('is made the live one by whoever has the lease, also where somebody has dropped the leases by hand', async (given) => {
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

test('is made anew where somebody has dropped it by hand', async ({ mongo, reads }) => {
  const build = await reads.live(diamonds)
  await build.write([put(diamond(1))], at(1))
  await progressesIn(mongo.db).deleteMany({})
  const anew = await reads.live(diamonds)
  assert.is.not(anew.id, build.id)
  assert.is(await anew.checkpoint(), undefined)
  assert.equal(await idsIn(reads), [])
})

const gone = (mongo: MongoDatabase, id: string): Promise<void> =>
  until(`the build ${id} to go`, async () => !(await collections(mongo)).some((name) => name.includes(id)))

if (server !== undefined) test.run()
