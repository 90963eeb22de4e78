import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { connect, type MongoDatabase } from '../../../src/stores/mongodb/connection.ts'
import { Leases } from '../../../src/stores/mongodb/lease.ts'
import type { Lease } from '../../../src/stores/ports/read-store.ts'
import { StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import { diamonds } from '../../contract/read-store/model.ts'
import { mongoServer } from '../../mongo-server.ts'

const server = await mongoServer('leases in MongoDB')

type Given = {
  address: string
  open: MongoDatabase[]
  newProcess: (now?: () => number) => { mongo: MongoDatabase; leases: Leases }
}
const test = suite<Given>('a lease in MongoDB')

test.before.each((given) => {
  const address = server?.newDatabase() ?? ''
  given.address = address
  given.open = []
  given.newProcess = (now = () => performance.now()) => {
    const mongo = connect(address)
    given.open.push(mongo)
    return { mongo, leases: new Leases(mongo, now) }
  }
})
test.after.each(async ({ open, address }) => {
  for (const mongo of open) await mongo.close()
  await server?.drop(address)
})

/** Milliseconds between two attempts of a waiting runner. */
const RETRY_INTERVAL = 500
/** Milliseconds after which a lease without heartbeats has not expired yet. */
const NOT_EXPIRED = 3_500

/** Tries to acquire the lease for `ms` milliseconds of the test's clock. @returns the lease, if it was acquired */
async function acquireWithin(successor: Leases, time: { now: number }, ms: number): Promise<Lease | undefined> {
  for (const deadline = time.now + ms; time.now < deadline;) {
    time.now += RETRY_INTERVAL
    const lease = await successor.acquire(diamonds)
    if (lease !== undefined) return lease
  }
  return undefined
}

test("can be acquired 4 s after its holder died, by the acquirer's clock", async ({ newProcess }) => {
  const time = { now: 1_000_000 }
  const [holder, successor] = [newProcess(), newProcess(() => time.now)]
  assert.ok(await holder.leases.acquire(diamonds))
  holder.leases.close()
  await holder.mongo.close()
  assert.is(await successor.leases.acquire(diamonds), undefined)
  assert.is(await acquireWithin(successor.leases, time, NOT_EXPIRED), undefined)
  const lease = await acquireWithin(successor.leases, time, RETRY_INTERVAL)
  assert.ok(lease)
  await lease?.release()
})

test('stays with a live holder, whatever the clocks of other processes show', async ({ newProcess }) => {
  const time = { now: 0 }
  const [holder, other] = [newProcess(), newProcess(() => time.now)]
  const lease = await holder.leases.acquire(diamonds)
  assert.is(await other.leases.acquire(diamonds), undefined)
  for (let attempts = 0; attempts < 3; attempts++) {
    assert.is(await other.leases.isHeld(diamonds), true)
    assert.is(await acquireWithin(other.leases, time, NOT_EXPIRED), undefined)
  }
  await lease?.release()
})

test('stays with its holder while the server rejects writes, which hides heartbeats', async ({ newProcess }) => {
  const time = { now: 0 }
  const [holder, other] = [newProcess(), newProcess(() => time.now)]
  const silent = freezable(holder.mongo)
  const lease = await new Leases(silent.mongo, () => 0).acquire(diamonds)
  await silent.stop()
  const refusing = refusingWrites(other.mongo)
  const waiting = new Leases(refusing.mongo, () => time.now)
  let refused = 0
  const countRefusal = (error: unknown) =>
    void (error instanceof StoreUnavailable ? refused++ : assert.unreachable(String(error)))
  for (let attempts = 0; attempts < 20; attempts++) {
    assert.is(await acquireWithin(waiting, time, RETRY_INTERVAL).catch(countRefusal), undefined)
  }
  assert.ok(refused > 0)
  refusing.resume()
  assert.is(await acquireWithin(waiting, time, NOT_EXPIRED), undefined)
  silent.resume()
  await lease?.release()
})

test('of a dead holder is acquired by exactly one of several waiting processes', async ({ newProcess }) => {
  const time = { now: 0 }
  const dead = newProcess()
  await dead.leases.acquire(diamonds)
  dead.leases.close()
  const successors = Array.from({ length: 6 }, () => newProcess(() => time.now).leases)
  for (const successor of successors) assert.is(await successor.acquire(diamonds), undefined)
  let acquired: (Lease | undefined)[] = []
  for (let attempts = 0; attempts < 8; attempts++) {
    time.now += RETRY_INTERVAL
    acquired = (await Promise.all(successors.map((successor) => successor.acquire(diamonds)))).filter(
      (lease) => lease !== undefined,
    )
  }
  assert.is(acquired.length, 1)
  await acquired[0]?.release()
})

/** Another process acquires the lease of diamonds while its holder is frozen; then the holder resumes. */
async function takeOver(
  holder: ReturnType<typeof freezable>,
  successor: Leases,
  time: { now: number },
): Promise<Lease | undefined> {
  // A heartbeat in progress completes before the other process starts counting.
  await holder.stop()
  await successor.acquire(diamonds)
  const lease = await acquireWithin(successor, time, NOT_EXPIRED + RETRY_INTERVAL)
  assert.ok(lease)
  holder.resume()
  return lease
}

test('is reported as lost to its holder when that one resumes', async ({ newProcess }) => {
  const time = { now: 0 }
  const [stopped, successor] = [newProcess(), newProcess(() => time.now)]
  const frozen = freezable(stopped.mongo)
  const lost = await new Leases(frozen.mongo, () => 0).acquire(diamonds)
  const lease = await takeOver(frozen, successor.leases, time)
  await lost?.lost
  assert.is(await successor.leases.isHeld(diamonds), true)
  await lease?.release()
})

test('that is lost does not affect other leases of its holder', async ({ newProcess }) => {
  const time = { now: 0 }
  const [holder, successor] = [newProcess(), newProcess(() => time.now)]
  const frozen = freezable(holder.mongo)
  const leases = new Leases(frozen.mongo, () => 0)
  const rubies = { ...diamonds, name: 'rubies' }
  const [lost, kept] = [await leases.acquire(diamonds), await leases.acquire(rubies)]
  const lease = await takeOver(frozen, successor.leases, time)
  await lost?.lost
  assert.is(await successor.leases.isHeld(rubies), true)
  await kept?.release()
  assert.is(await successor.leases.isHeld(rubies), false)
  await lease?.release()
})

/** A connection whose process can be stopped: calls wait until it resumes. */
function freezable(mongo: MongoDatabase) {
  let resumed = Promise.resolve()
  let resume = () => {}
  const pendingCalls = new Set<Promise<unknown>>()
  const track = <Result>(called: Promise<Result>): Promise<Result> => {
    pendingCalls.add(called)
    return called.finally(() => pendingCalls.delete(called))
  }
  return {
    mongo: {
      ...mongo,
      call: async (action, deadline) => resumed.then(() => track(mongo.call(action, deadline))),
    } satisfies MongoDatabase,
    /** Resolves when the calls in progress have completed. */
    async stop(): Promise<void> {
      resumed = new Promise((done) => (resume = done))
      await Promise.allSettled(pendingCalls)
    },
    resume: () => resume(),
  }
}

/** A connection that rejects writes until `resume` is called, but allows reads. */
function refusingWrites(mongo: MongoDatabase) {
  let refuses = true
  const db = new Proxy(mongo.db, {
    get: (_db, name) => (name === 'collection' ? () => collection : Reflect.get(mongo.db, name)),
  })
  const collection = new Proxy(mongo.db.collection('leases'), {
    get(leases, name) {
      if (refuses && name !== 'findOne') throw new StoreUnavailable('the server elects')
      const value: unknown = Reflect.get(leases, name)
      return typeof value === 'function' ? value.bind(leases) : value
    },
  })
  return { mongo: { ...mongo, db } satisfies MongoDatabase, resume: () => void (refuses = false) }
}

if (server !== undefined) test.run()
