import { createCommandContext } from '../../../src/commands/core/command-context.ts'
import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import { tracingTools } from './tracing-tools.ts'
import * as assert from 'uvu/assert'
import { toEventMetadata } from '../../../src/events/event-metadata.ts'
import type { Cut } from '../../../src/optics/cut/cut.ts'
import { referenceCut, findTracedCut } from '../../../src/optics/score.ts'
import { createLogger } from '../../../src/runtime/logger.ts'
import { scoring } from '../../../src/reactions/scoring/scoring.ts'
import { EventsRemoved, type EventStore, type StoredEvent } from '../../../src/stores/ports/event-store.ts'
import { diamonds } from '../../../src/projections/diamonds/diamonds.ts'
import { handlerOf } from '../../projections/engine/start-background-services.ts'
import { origin, vendorOf, project, withDisk, type Disk } from '../../projections/engine/inventory-on-disk.ts'
import { appendScoresOfVersion } from './older-scores.ts'
import { readScores } from '../../projections/diamonds/read-view.ts'
import { fixedClock } from '../../fixed-clock.ts'

const test = suite('the scoring reaction')

function createReaction(store: EventStore, traced = tracingTools()) {
  const tools = {
    ...createCommandContext(store, fixedClock),
    log: createLogger('silent'),
    onScored: () => undefined,
    yieldToRequests: async () => true,
  }
  return handlerOf(scoring, { scoring: { ...tools, ...traced } })
}

async function eventsOf(store: EventStore, prefix = 'diamond-'): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for await (const event of store.readAll('start', { prefixes: [prefix] })) events.push(event)
  return events
}

/** Diamond id and revision of all scores, in log order. */
const scoredRevisions = async ({ store }: Disk) =>
  (await eventsOf(store, 'scores-')).map(({ data }) => [data['id'], data['revision']])

test(
  'scores created diamonds, with the creating event as the cause',
  withDisk(async (disk) => {
    const [first, second] = await vendorOf(disk.store).create(2)
    const events = await eventsOf(disk.store)
    await createReaction(disk.store)(events)
    assert.equal(await scoredRevisions(disk), [
      [first, 0],
      [second, 0],
    ])
    const metadata = (await eventsOf(disk.store, 'scores-'))[0]?.metadata
    assert.equal([metadata?.['actor'], metadata?.['via']], ['scoring', 'projection'])
    assert.is(metadata?.['$causationId'], events[0]?.id)
  }),
)

test(
  'scores nothing again if the same events are delivered again, in any batches',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const [id = 0] = await vendor.create(3)
    await vendor.patch(id, { carat: 2 })
    const events = await eventsOf(disk.store)
    const react = createReaction(disk.store)
    await react(events)
    const once = await scoredRevisions(disk)
    await react(events)
    for (const event of events) await react([event])
    assert.equal(await scoredRevisions(disk), once)
  }),
)

test(
  'keeps stored scores of another version of the model if their events are delivered again, and traces no cut for them',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const [kept = 0, changed = 0] = await vendor.create(2)
    await appendScoresOfVersion(disk.store, '0.9.3+00c0ffee', [kept, changed])
    await vendor.patch(changed, { carat: 2 })
    const [unscored = 0] = await vendor.create(1)
    const traced: Cut[] = []
    const find = (cut: Cut) => {
      traced.push(cut)
      return referenceCut
    }
    const react = createReaction(disk.store, tracingTools(find))
    await react(await eventsOf(disk.store))
    assert.equal(await scoredRevisions(disk), [
      [kept, 0],
      [changed, 0],
      [changed, 1],
      [unscored, 0],
    ])
    assert.is(traced.length, 2)
  }),
)

test(
  'scores each diamond once if several processes run it',
  withDisk(async (disk) => {
    await vendorOf(disk.store).create(250)
    const events = await eventsOf(disk.store)
    await Promise.all([0, 1, 2].map(() => createReaction(disk.store)(events)))
    assert.is((await scoredRevisions(disk)).length, 250)
  }),
)

test(
  'scores a diamond again only after a patch of a field that the model uses',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const [id = 0] = await vendor.create(1)
    await vendor.patch(id, { price: 5 })
    await vendor.patch(id, { carat: 2 })
    const react = createReaction(disk.store)
    for (const event of await eventsOf(disk.store)) await react([event])
    await vendor.patch(id, { price: 6 })
    await react((await eventsOf(disk.store)).slice(-1))
    assert.equal(await scoredRevisions(disk), [
      [id, 0],
      [id, 2],
    ])
  }),
)

test(
  'scores no diamond that was deleted in the meantime',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const [id = 0] = await vendor.create(1)
    await vendor.patch(id, { carat: 2 })
    const patched = (await eventsOf(disk.store)).slice(-1)
    await vendor.remove(id)
    const react = createReaction(disk.store)
    await react(patched)
    await react(await eventsOf(disk.store))
    assert.equal(await scoredRevisions(disk), [])
  }),
)

test(
  'gives the read model no scores of an older revision',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const [id = 0] = await vendor.create(1)
    const created = await eventsOf(disk.store)
    await vendor.patch(id, { carat: 2 })
    await createReaction(disk.store)(created)
    await project(disk)
    const model = await disk.reads.model(diamonds.declaration)
    assert.is(await readScores(model, id), null)
    await createReaction(disk.store)((await eventsOf(disk.store)).slice(-1))
    await project(disk)
    assert.ok((await readScores(model, id))?.integral)
  }),
)

test(
  'skips a stream with an unreadable event',
  withDisk(async (disk) => {
    const [id] = await vendorOf(disk.store).create(1)
    const [created] = await eventsOf(disk.store)
    assert.ok(created)
    const strange = { ...created, stream: 'diamond-99', data: { ...created.data, owner: 'nobody' } }
    await createReaction(disk.store)([strange, created])
    assert.equal(await scoredRevisions(disk), [[id, 0]])
  }),
)

test(
  'skips a diamond that a newer release has scored, and scores all others',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const [first = 0, second = 0] = await vendor.create(2)
    const newer = toEventMetadata(origin, Date.now(), '99')
    await disk.store.append(`scores-${first}`, 'none', [
      { id: randomUUID(), type: 'DiamondScored', data: { id: first, ours: 'unknown' }, metadata: newer },
    ])
    await vendor.patch(first, { carat: 2 })
    await vendor.patch(second, { carat: 2 })
    await createReaction(disk.store)((await eventsOf(disk.store)).slice(-2))
    assert.equal(await scoredRevisions(disk), [
      [first, undefined],
      [second, 1],
    ])
  }),
)

test(
  'scores all others if tracing a cut fails, and then fails so that the batch is retried',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const [first = 0, second] = await vendor.create(2)
    await vendor.patch(first, { girdle: 'Thick' })
    const react = createReaction(disk.store, tracingTools(findTracedCut))
    let failed = false
    await react(await eventsOf(disk.store)).catch(() => (failed = true))
    assert.ok(failed)
    assert.equal(await scoredRevisions(disk), [[second, 0]])
  }),
)

/** The streams of each append, which is rejected if it includes the removed stream. */
function watchAppends(store: EventStore, removed?: string) {
  const appends: (readonly string[])[] = []
  const watch = async <Result>(streams: readonly string[], append: () => Promise<Result>): Promise<Result> => {
    if (removed !== undefined && streams.includes(removed)) throw new EventsRemoved(removed)
    appends.push(streams)
    return append()
  }
  const watched = new Proxy(store, {
    get(target, name) {
      if (name === 'append')
        return (...[stream, ...rest]: Parameters<EventStore['append']>) =>
          watch([stream], () => target.append(stream, ...rest))
      if (name === 'appendMany')
        return (...[many, ...rest]: Parameters<EventStore['appendMany']>) =>
          watch(
            many.map(({ stream }) => stream),
            () => target.appendMany(many, ...rest),
          )
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  return { store: watched, appends }
}

const allTraced = tracingTools(
  () => undefined,
  async () => referenceCut,
)

test(
  'appends the scores of traced cuts in groups of twenty',
  withDisk(async (disk) => {
    const ids = await vendorOf(disk.store).create(45)
    const { store, appends } = watchAppends(disk.store)
    await createReaction(store, allTraced)(await eventsOf(disk.store))
    assert.equal(
      appends.map((streams) => streams.length),
      [20, 20, 5],
    )
    assert.equal(
      await scoredRevisions(disk),
      ids.map((id) => [id, 0]),
    )
  }),
)

for (const [name, tools] of [
  ['known', tracingTools()],
  ['traced', allTraced],
] as const)
  test(
    `scores all others if the scores of a diamond with a ${name} cut were removed from the log, and reports it`,
    withDisk(async (disk) => {
      const [first = 0, removed = 0, last = 0] = await vendorOf(disk.store).create(3)
      const { store } = watchAppends(disk.store, `scores-${removed}`)
      const poisonEvents = await createReaction(store, tools)(await eventsOf(disk.store))
      assert.equal(await scoredRevisions(disk), [
        [first, 0],
        [last, 0],
      ])
      assert.equal(
        (poisonEvents ?? []).map(({ event }) => event.stream),
        [`diamond-${removed}`],
      )
    }),
  )

test.run()
