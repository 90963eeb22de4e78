import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { connect, type Mongo } from '../../../src/stores/mongodb/connection.ts'
import { Leases } from '../../../src/stores/mongodb/lease.ts'
import { diamonds } from '../../contract/read-store/model.ts'
import { mongoServer } from '../../mongo-server.ts'

const server = await mongoServer('leases in MongoDB')

type Given = { address: string; open: Mongo[]; newProcess: (now?: () => number) => { mongo: Mongo; leases: Leases } }
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

test('falls to another 4 s after its holder died, on the clock of that other', async ({ newProcess }) => {
  let time = 1_000_000
  const [dying, heir] = [newProcess(), newProcess(() => time)]
  assert.ok(await dying.leases.take(diamonds))
  dying.leases.close()
  await dying.mongo.close()
  assert.is(await heir.leases.take(diamonds), undefined)
  time += 3_999
  assert.is(await heir.leases.take(diamonds), undefined)
  time += 1
  const lease = await heir.leases.take(diamonds)
  assert.ok(lease)
  await lease?.release()
})

test('stays with a holder that lives, however late it is on the clocks of others', async ({ newProcess }) => {
  let time = 0
  const [holder, other] = [newProcess(), newProcess(() => time)]
  const lease = await holder.leases.take(diamonds)
  assert.is(await other.leases.take(diamonds), undefined)
  for (let looks = 0; looks < 3; looks++) {
    assert.is(await other.leases.isHeld(diamonds), true)
    time += 3_999
    assert.is(await other.leases.take(diamonds), undefined)
  }
  await lease?.release()
})

test('falls to one of those who wait for it', async ({ newProcess }) => {
  let time = 0
  const dead = newProcess()
  await dead.leases.take(diamonds)
  dead.leases.close()
  const heirs = Array.from({ length: 6 }, () => newProcess(() => time).leases)
  for (const heir of heirs) assert.is(await heir.take(diamonds), undefined)
  time += 4_000
  const taken = (await Promise.all(heirs.map((heir) => heir.take(diamonds)))).filter((lease) => lease !== undefined)
  assert.is(taken.length, 1)
  await taken[0]?.release()
})

test('tells its holder that it was lost, when that one goes on after all', async ({ newProcess }) => {
  let time = 0
  const [stopped, heir] = [newProcess(), newProcess(() => time)]
  const frozen = freezable(stopped.mongo)
  const lost = await new Leases(frozen.mongo, () => 0).take(diamonds)
  frozen.stop()
  await heir.leases.take(diamonds)
  await new Promise((done) => setTimeout(done, 700))
  await heir.leases.take(diamonds)
  time += 4_000
  const lease = await heir.leases.take(diamonds)
  assert.ok(lease)
  frozen.goOn()
  await lost?.lost
  assert.is(await heir.leases.isHeld(diamonds), true)
  await lease?.release()
})

/** A connection whose process can be stopped: calls wait until it goes on. */
function freezable(mongo: Mongo) {
  let going = Promise.resolve()
  let goOn = () => {}
  return {
    mongo: {
      ...mongo,
      call: async (action, deadline) => going.then(() => mongo.call(action, deadline)),
    } satisfies Mongo,
    stop: () => void (going = new Promise((done) => (goOn = done))),
    goOn: () => goOn(),
  }
}

if (server !== undefined) test.run()
