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

/** Milliseconds between two tries of those who wait, as the runners make them. */
const LOOK = 500
const SOON = 3_500

/** Tries again and again for so many milliseconds of the waiting one's clock. @returns the lease, as soon as it has it */
async function waited(heir: Leases, time: { now: number }, ms: number): Promise<Lease | undefined> {
  for (const ends = time.now + ms; time.now < ends;) {
    time.now += LOOK
    const lease = await heir.acquire(diamonds)
    if (lease !== undefined) return lease
  }
  return undefined
}

test('falls to another 4 s after its holder died, on the clock of that other', async ({ newProcess }) => {
  const time = { now: 1_000_000 }
  const [dying, heir] = [newProcess(), newProcess(() => time.now)]
  assert.ok(await dying.leases.acquire(diamonds))
  dying.leases.close()
  await dying.mongo.close()
  assert.is(await heir.leases.acquire(diamonds), undefined)
  assert.is(await waited(heir.leases, time, SOON), undefined)
  const lease = await waited(heir.leases, time, LOOK)
  assert.ok(lease)
  await lease?.release()
})

test('stays with a holder that lives, however late it is on the clocks of others', async ({ newProcess }) => {
  const time = { now: 0 }
  const [holder, other] = [newProcess(), newProcess(() => time.now)]
  const lease = await holder.leases.acquire(diamonds)
  assert.is(await other.leases.acquire(diamonds), undefined)
  for (let looks = 0; looks < 3; looks++) {
    assert.is(await other.leases.isHeld(diamonds), true)
    assert.is(await waited(other.leases, time, SOON), undefined)
  }
  await lease?.release()
})

test('stays with a holder while a server that takes no writes keeps its signs from being seen', async ({
  newProcess,
}) => {
  const time = { now: 0 }
  const [holder, other] = [newProcess(), newProcess(() => time.now)]
  const silent = freezable(holder.mongo)
  const lease = await new Leases(silent.mongo, () => 0).acquire(diamonds)
  await silent.stop()
  const refusing = refusingWrites(other.mongo)
  const waiting = new Leases(refusing.mongo, () => time.now)
  let refused = 0
  const unlessRefused = (error: unknown) =>
    void (error instanceof StoreUnavailable ? refused++ : assert.unreachable(String(error)))
  for (let looks = 0; looks < 20; looks++) {
    assert.is(await waited(waiting, time, LOOK).catch(unlessRefused), undefined)
  }
  assert.ok(refused > 0)
  refusing.goOn()
  assert.is(await waited(waiting, time, SOON), undefined)
  silent.goOn()
  await lease?.release()
})

test('falls to one of those who wait for it', async ({ newProcess }) => {
  const time = { now: 0 }
  const dead = newProcess()
  await dead.leases.acquire(diamonds)
  dead.leases.close()
  const heirs = Array.from({ length: 6 }, () => newProcess(() => time.now).leases)
  for (const heir of heirs) assert.is(await heir.acquire(diamonds), undefined)
  let taken: (Lease | undefined)[] = []
  for (let looks = 0; looks < 8; looks++) {
    time.now += LOOK
    taken = (await Promise.all(heirs.map((heir) => heir.acquire(diamonds)))).filter((lease) => lease !== undefined)
  }
  assert.is(taken.length, 1)
  await taken[0]?.release()
})

/** The lease of diamonds, which another process takes while its holder is frozen; the holder goes on then. */
async function takenOver(
  holder: ReturnType<typeof freezable>,
  heir: Leases,
  time: { now: number },
): Promise<Lease | undefined> {
  // A heartbeat that was on its way has been seen before the other begins to count.
  await holder.stop()
  await heir.acquire(diamonds)
  const lease = await waited(heir, time, SOON + LOOK)
  assert.ok(lease)
  holder.goOn()
  return lease
}

test('tells its holder that it was lost, when that one goes on after all', async ({ newProcess }) => {
  const time = { now: 0 }
  const [stopped, heir] = [newProcess(), newProcess(() => time.now)]
  const frozen = freezable(stopped.mongo)
  const lost = await new Leases(frozen.mongo, () => 0).acquire(diamonds)
  const lease = await takenOver(frozen, heir.leases, time)
  await lost?.lost
  assert.is(await heir.leases.isHeld(diamonds), true)
  await lease?.release()
})

test('that is lost takes no other lease of its holder along', async ({ newProcess }) => {
  const time = { now: 0 }
  const [holder, heir] = [newProcess(), newProcess(() => time.now)]
  const frozen = freezable(holder.mongo)
  const leases = new Leases(frozen.mongo, () => 0)
  const rubies = { ...diamonds, name: 'rubies' }
  const [lost, kept] = [await leases.acquire(diamonds), await leases.acquire(rubies)]
  const lease = await takenOver(frozen, heir.leases, time)
  await lost?.lost
  assert.is(await heir.leases.isHeld(rubies), true)
  await kept?.release()
  assert.is(await heir.leases.isHeld(rubies), false)
  await lease?.release()
})

/** A connection whose process can be stopped: calls wait until it goes on. */
function freezable(mongo: MongoDatabase) {
  let going = Promise.resolve()
  let goOn = () => {}
  const underWay = new Set<Promise<unknown>>()
  const begun = <Result>(called: Promise<Result>): Promise<Result> => {
    underWay.add(called)
    return called.finally(() => underWay.delete(called))
  }
  return {
    mongo: {
      ...mongo,
      call: async (action, deadline) => going.then(() => begun(mongo.call(action, deadline))),
    } satisfies MongoDatabase,
    /** Resolves when what was on its way has been answered. */
    async stop(): Promise<void> {
      going = new Promise((done) => (goOn = done))
      await Promise.allSettled(underWay)
    },
    goOn: () => goOn(),
  }
}

/** A connection on which nothing can be changed until it goes on, and all can be read. */
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
  return { mongo: { ...mongo, db } satisfies MongoDatabase, goOn: () => void (refuses = false) }
}

if (server !== undefined) test.run()
