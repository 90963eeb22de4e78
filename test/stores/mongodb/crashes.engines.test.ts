import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { connect, type MongoDatabase } from '../../../src/stores/mongodb/connection.ts'
import { createMongoReadStore } from '../../../src/stores/mongodb/documents.ts'
import { StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import type { Checkpoint, ReadStore, DocumentWrite } from '../../../src/stores/ports/read-store.ts'
import { at, diamond, diamonds, idsIn, put, remove } from '../../contract/read-store/model.ts'
import { mongoServer } from '../../mongo-server.ts'

const server = await mongoServer('crashes of a runner on MongoDB')
const test = suite('a runner on MongoDB')
const RUNS = process.env['ADAMANT_FULL'] === '1' ? 300 : 25

/** A connection of a process that dies after `calls` calls: later calls do not reach the server. */
function dyingAfter(mongo: MongoDatabase, calls: number): MongoDatabase {
  let remainingCalls = calls
  return {
    ...mongo,
    call: (action, deadline) =>
      remainingCalls-- > 0 ? mongo.call(action, deadline) : Promise.reject(new StoreUnavailable('killed')),
  }
}

type Given = { mongo: MongoDatabase; reads: ReadStore }

async function withDatabase(action: (given: Given) => Promise<void>): Promise<void> {
  if (server === undefined) return
  const address = server.newDatabase()
  const mongo = connect(address)
  try {
    await action({ mongo, reads: createMongoReadStore(mongo) })
  } finally {
    await mongo.close()
    await server.drop(address)
  }
}

/** The n-th event of a log: the stone and its state afterwards. */
type Step = { readonly id: number; readonly owner: number; readonly isColored: number; readonly gone: boolean }
const steps = fc.array(
  fc.record({
    id: fc.integer({ min: 1, max: 4 }),
    owner: fc.integer({ min: 1, max: 2 }),
    isColored: fc.integer({ min: 0, max: 1 }),
    gone: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
)

/** The events of a range as the runner writes them: for each stone one write, with its last state. */
function batch(log: readonly Step[], from: number, to: number): DocumentWrite[] {
  const last = new Map<number, DocumentWrite>()
  for (let n = from; n < to; n++) {
    const { id, gone, ...values } = log[n] as Step
    last.set(id, gone ? remove(id, BigInt(n + 1)) : put(diamond(id, values), BigInt(n + 1)))
  }
  return [...last.values()]
}

/** Writes the log in batches of `size`, starting at the checkpoint. */
async function project(reads: ReadStore, log: readonly Step[], size: number): Promise<void> {
  const build = await reads.live(diamonds)
  const position = (await build.checkpoint())?.position ?? 'start'
  for (let from = position === 'start' ? 0 : Number(position.commit); from < log.length; from += size) {
    const to = Math.min(log.length, from + size)
    await build.write(batch(log, from, to), at(to))
  }
}

async function assertMatchesLog(reads: ReadStore, log: readonly Step[]): Promise<void> {
  const stones = new Map(log.map((step) => [step.id, step]))
  const model = await reads.model(diamonds)
  for (const owner of [1, 2]) {
    const owned = [...stones.values()].filter((step) => step.owner === owner && !step.gone)
    assert.equal(await idsIn(reads, owner), owned.map(({ id }) => id).sort())
    assert.is(await model.count({ owner }), owned.length)
    for (const isColored of [0, 1])
      assert.is(await model.count({ owner, isColored }), owned.filter((step) => step.isColored === isColored).length)
  }
}

test('that dies at any call writes and counts everything once, for any later batch sizes', () =>
  fc.assert(
    fc.asyncProperty(
      steps,
      fc.array(fc.record({ calls: fc.integer({ min: 0, max: 20 }), size: fc.integer({ min: 1, max: 6 }) }), {
        maxLength: 4,
      }),
      (log, deaths) =>
        withDatabase(async ({ mongo, reads }) => {
          await reads.live(diamonds)
          for (const { calls, size } of deaths) {
            await project(createMongoReadStore(dyingAfter(mongo, calls)), log, size).catch((error: unknown) => {
              if (!(error instanceof StoreUnavailable)) throw error
            })
          }
          await project(reads, log, 3)
          await assertMatchesLog(reads, log)
        }),
    ),
    { numRuns: RUNS },
  ))

test('that was stopped during a batch and resumes after another runner took over changes nothing', () =>
  withDatabase(async ({ mongo, reads }) => {
    const log = [
      { id: 3, owner: 1, isColored: 0, gone: false },
      { id: 1, owner: 1, isColored: 0, gone: false },
      { id: 2, owner: 1, isColored: 1, gone: false },
      { id: 1, owner: 1, isColored: 0, gone: true },
      { id: 3, owner: 1, isColored: 1, gone: false },
    ]
    for (let calls = 0; calls < 12; calls++) {
      const build = await reads.live(diamonds)
      await build.write(batch(log, 0, 1), at(1))
      const stopped = pausingAfter(mongo, calls)
      const late = writeTo(createMongoReadStore(stopped.mongo), batch(log, 1, 3), at(3))
      await Promise.race([stopped.reached, late])
      await project(reads, log, 4)
      stopped.resume()
      await late
      assert.equal(await build.checkpoint(), at(5), `stopped before call ${calls}`)
      await assertMatchesLog(reads, log)
      await reads.promote(diamonds, await reads.begin(diamonds))
    }
  }))

const writeTo = async (reads: ReadStore, writes: readonly DocumentWrite[], checkpoint: Checkpoint) =>
  (await reads.live(diamonds)).write(writes, checkpoint)

/** A connection that pauses after `calls` calls, as in a process between SIGSTOP and SIGCONT. */
function pausingAfter(mongo: MongoDatabase, calls: number) {
  let remainingCalls = calls
  let resume = () => {}
  let arrived = () => {}
  const resumed = new Promise<void>((done) => (resume = done))
  const reached = new Promise<void>((done) => (arrived = done))
  const call: MongoDatabase['call'] = async (action, deadline) => {
    if (remainingCalls-- === 0) {
      arrived()
      await resumed
    }
    return mongo.call(action, deadline)
  }
  return { mongo: { ...mongo, call }, resume, reached }
}

if (server !== undefined) test.run()
