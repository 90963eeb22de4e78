import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import { tracingTools } from '../../reactions/scoring/tracing-tools.ts'
import * as assert from 'uvu/assert'
import { createCommandContext, type CommandContext } from '../../../src/commands/core/command-context.ts'
import { recordReading } from '../../../src/commands/certifications/certifications.ts'
import { retryStreams } from '../../../src/commands/installation/retry-streams.ts'
import type { Cut } from '../../../src/optics/cut/cut.ts'
import { UntraceableCut } from '../../../src/optics/cut/proportions.ts'
import { findTracedCut } from '../../../src/optics/score.ts'
import { createLogger } from '../../../src/runtime/logger.ts'
import { CertificationQueries, certifications } from '../../../src/projections/certifications/certifications.ts'
import { diamonds } from '../../../src/projections/diamonds/diamonds.ts'
import type { Projection } from '../../../src/projections/engine/read-model.ts'
import { ReactionConsumer } from '../../../src/projections/engine/reaction-consumer.ts'
import {
  checkpointModelOf,
  type ReactionHandler,
  type ReactionSubscription,
  type Reaction,
} from '../../../src/projections/engine/reaction.ts'
import { reportReading } from '../../../src/reactions/reports/report-reading.ts'
import { bulkRequestRecovery } from '../../../src/reactions/bulk/bulk-request-recovery.ts'
import { ConsumerRunner, type EventConsumer } from '../../../src/projections/engine/runner.ts'
import { scoring } from '../../../src/reactions/scoring/scoring.ts'
import { secrets } from '../../../src/projections/secrets/secrets.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import type { Document, ModelDeclaration, ReadStore } from '../../../src/stores/ports/read-store.ts'
import { reportNamed } from '../../fixtures/reports/reports.ts'
import { rounds } from '../../rounds.ts'
import { consumerOf, DEADLINE, origin, withDisk, type Disk } from './inventory-on-disk.ts'
import { handlerOf } from './start-background-services.ts'
import {
  appendTo,
  DIAMOND_POISON,
  REQUEST_POISON,
  SCORES_POISON,
  SECRET_POISON,
  type PoisonEvent,
} from './poison-events.ts'
import { readView } from '../diamonds/read-view.ts'
import { fixedClock } from '../../fixed-clock.ts'

const test = suite('a poison event')
const silent = createLogger('silent')

type TestedConsumer = {
  readonly declaration: ModelDeclaration
  readonly progress: ConsumerRunner['progress']
  start(): void
  stop(): Promise<void>
}

const startable = (declaration: ModelDeclaration, consumer: EventConsumer, { store }: Disk): TestedConsumer => {
  const runner = new ConsumerRunner(consumer, store, silent)
  return { declaration, progress: runner.progress, start: () => runner.start(), stop: () => runner.stop() }
}
const projecting = <Value>(disk: Disk, projection: Projection<Value>): TestedConsumer =>
  startable(projection.declaration, consumerOf(disk, projection), disk)
const reacting = (disk: Disk, [declared, react]: readonly [ReactionSubscription, ReactionHandler]): TestedConsumer => {
  const consumer = new ReactionConsumer(declared, react, { ...disk, log: silent })
  return startable(checkpointModelOf(declared.name), consumer, disk)
}

const withHandler = <Tools>(declared: Reaction<Tools>, tools: Tools) => [declared, handlerOf(declared, tools)] as const

const commandContextOf = (store: EventStore) => createCommandContext(store, fixedClock)
const scoringWith = (store: EventStore, traced = tracingTools((cut) => findTracedCut(cut) ?? null)) =>
  withHandler(scoring, {
    scoring: {
      ...commandContextOf(store),
      ...traced,
      onScored: () => undefined,
      yieldToRequests: async () => true,
    },
  })

async function reportReadingOn({ store, reads }: Disk) {
  const progress = { waitForPosition: async () => true }
  const queries = new CertificationQueries(await reads.model(certifications.declaration), store, progress)
  return withHandler(reportReading, {
    reports: {
      readFile: async () => Buffer.from('%PDF-'),
      certification: (diamond, id) => queries.findCertification(diamond, id),
      readReport: async () => reportNamed('gia').reading,
      record: (report) => recordReading(commandContextOf(store), report),
      log: silent,
    },
  })
}

/** Every projection and reaction that parks streams. */
const everyConsumer = async (disk: Disk): Promise<TestedConsumer[]> => [
  projecting(disk, diamonds),
  projecting(disk, certifications),
  projecting(disk, secrets),
  reacting(disk, scoringWith(disk.store)),
  reacting(disk, await reportReadingOn(disk)),
  reacting(
    disk,
    withHandler(bulkRequestRecovery, { context: oneMinuteAhead(commandContextOf(nonAtomic(disk.store))), log: silent }),
  ),
]

/** A clock one minute ahead, so that requests accepted now are due for recovery. */
const oneMinuteAhead = (context: CommandContext): CommandContext => ({
  ...context,
  clock: () => context.clock() + 60_000,
})

const nonAtomic = (store: EventStore): EventStore => ({ ...store, isAppendManyAtomic: false })

/** Runs the consumers to the head of the log, including the events that they append themselves. */
async function runToHead({ store }: Disk, consumers: readonly TestedConsumer[]): Promise<void> {
  for (const consumer of consumers) consumer.start()
  for (let round = 0; round < 3; round++) {
    for (const { progress, declaration } of consumers) {
      assert.ok(await progress.waitForPosition(await store.head(), DEADLINE), `${declaration.name} does not progress`)
    }
  }
  for (const consumer of consumers) await consumer.stop()
}

async function parkedStreamsOf(reads: ReadStore, { name, ...declaration }: ModelDeclaration): Promise<string[]> {
  const letters = await (await reads.live({ name, ...declaration })).deadLetters()
  return [...new Set(letters.map(({ stream }) => stream))].toSorted()
}

const createdData = (id: number) => ({
  id,
  owner: 1,
  date: 1_700_000_000,
  set: { sku: `S${id}`, cutShape: 2, carat: 1 },
})
const sharedData = {
  owner: 1,
  token: 't',
  kind: 'shared',
  at: 5,
  ttl: 60,
  passphrase: false,
  recipient: [],
  notify: false,
}
const attachedData = (id: number) => ({
  id,
  laboratory: 'GIA',
  number: null,
  file: { digest: String(id).padStart(64, '0'), bytes: 9, name: null },
})
const scoresData = (id: number) => ({
  id,
  revision: 0,
  scores: { integral: null, spread: null, fire: null, brilliance: null, fluor: null, symmetry: null },
})
const acceptedData = (id: number) => ({
  body: '',
  diamonds: [id],
  part: 1,
  parts: 1,
  changes: [
    {
      stream: `diamond-${id}`,
      expected: null,
      events: [
        {
          id: `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`,
          type: 'DiamondCreated',
          data: createdData(id),
        },
      ],
    },
  ],
})

/** Valid events of each stream category for number `id`: the neighbours of the poison event, which it must not block. */
const CATEGORIES = {
  diamond: (id: number) => [
    { type: 'DiamondCreated', data: createdData(id) },
    { type: 'CertificationAttached', data: attachedData(id) },
    { type: 'DiamondPatched', data: { set: { price: id }, removed: [] } },
  ],
  scores: (id: number) => [{ type: 'DiamondScored', data: scoresData(id) }],
  secret: () => [{ type: 'SecretShared', data: sharedData }],
  request: (id: number) => [{ type: 'RequestAccepted', data: acceptedData(id) }],
} as const
type Category = keyof typeof CATEGORIES

const POISON_BY_CATEGORY: readonly (readonly [Category, PoisonEvent])[] = [
  ...DIAMOND_POISON.map((poison) => ['diamond', poison] as const),
  ...SCORES_POISON.map((poison) => ['scores', poison] as const),
  ...SECRET_POISON.map((poison) => ['secret', poison] as const),
  ...REQUEST_POISON.map((poison) => ['request', poison] as const),
]

/** Asserts that everything with number `id` is processed: diamond, certification, secret, report, scores and request. */
async function assertProcessed({ store, reads }: Disk, id: number): Promise<void> {
  const { sku, price } = (await readView(await reads.model(diamonds.declaration), id)).diamond.fields
  assert.equal({ sku, price }, { sku: `S${id}`, price: id })
  assert.ok(await (await reads.model(certifications.declaration)).get(id, ['diamond']), `certification ${id}`)
  assert.ok(await (await reads.model(secrets.declaration)).get(`of-${id}`, ['owner']), `secret ${id}`)
  assert.ok(
    (await store.readStream(`diamond-${id}`)).some(({ type }) => type === 'ReportRead'),
    `report ${id}`,
  )
  assert.ok((await store.readStream(`scores-${id}`)).length > 0, `scores ${id}`)
  assert.is((await store.readStream(`request-${id}`)).at(-1)?.type, 'RequestDone')
  assert.is((await store.readStream(`diamond-${id + 1_000_000}`)).length, 1)
}

const streamOf = (category: Category, id: number) => (category === 'secret' ? `secret-of-${id}` : `${category}-${id}`)

async function plant({ store }: Disk, id: number, category: Category, poison: PoisonEvent, at: number): Promise<void> {
  if (category === 'scores') await appendTo(store, `diamond-${id}`, { type: 'DiamondCreated', data: createdData(id) })
  const events: Omit<PoisonEvent, 'name'>[] = [...CATEGORIES[category](id)]
  events.splice(Math.min(at, events.length), 0, poison)
  await appendTo(store, streamOf(category, id), ...events)
}

async function appendValidStreams({ store }: Disk, id: number): Promise<void> {
  await appendTo(store, `diamond-${id}`, ...CATEGORIES.diamond(id))
  await appendTo(store, `secret-of-${id}`, ...CATEGORIES.secret())
  await appendTo(store, `request-${id}`, ...CATEGORIES.request(id + 1_000_000))
}

test('of any kind and anywhere in a stream blocks no other stream in any projection or reaction', async () => {
  const planted = fc.array(fc.tuple(fc.constantFrom(...POISON_BY_CATEGORY), fc.nat(3), fc.boolean()), {
    minLength: 1,
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(planted, async (kinds) => {
      await withDisk(async (disk) => {
        const before = kinds.filter(([, , early]) => early)
        const later = kinds.filter(([, , early]) => !early)
        let id = 100
        for (const [[category, poison], at] of before) await plant(disk, id++, category, poison, at)
        await appendValidStreams(disk, 1)
        await runToHead(disk, await everyConsumer(disk))
        for (const [[category, poison], at] of later) await plant(disk, id++, category, poison, at)
        await appendValidStreams(disk, 2)
        await runToHead(disk, await everyConsumer(disk))
        for (const good of [1, 2]) await assertProcessed(disk, good)
      })()
    }),
    { numRuns: rounds(5, 300) },
  )
})

for (const [category, poison] of POISON_BY_CATEGORY) {
  test(
    `(${poison.name} in ${category}-) parks its own stream only`,
    withDisk(async (disk) => {
      await appendValidStreams(disk, 1)
      await plant(disk, 7, category, poison, 3)
      const consumers = await everyConsumer(disk)
      await runToHead(disk, consumers)
      const stream = streamOf(category, 7)
      const parked = await Promise.all(consumers.map(({ declaration }) => parkedStreamsOf(disk.reads, declaration)))
      assert.ok(parked.flat().includes(stream), `no consumer parked ${stream}`)
      assert.equal([...new Set(parked.flat())], [stream])
      await assertProcessed(disk, 1)
    }),
  )
}

type ProjectionFunction = 'keyOf' | 'createsDocument' | 'evolve' | 'toDocument' | 'fromDocument'

/** A projection with one function that fails for diamond 7. */
function failingOnDiamond7(part: ProjectionFunction): Projection<unknown> {
  const whole = diamonds as Projection<unknown>
  const isSeven = (one: unknown): boolean => {
    const { stream, diamond, id } = one as { stream?: string; diamond?: { id: number }; id?: number }
    return stream === 'diamond-7' || stream === 'scores-7' || diamond?.id === 7 || id === 7
  }
  const failing =
    (run: (...given: never[]) => unknown) =>
    (...given: unknown[]) => {
      if (given.some((one) => typeof one === 'object' && one !== null && isSeven(one))) throw new Error('7 is unlucky')
      return run(...(given as never[]))
    }
  return { ...whole, [part]: failing(whole[part] as (...given: never[]) => unknown) }
}

for (const part of ['keyOf', 'createsDocument', 'evolve', 'toDocument', 'fromDocument'] as const) {
  test(
    `that makes ${part} of a projection throw blocks no other stream, and is folded by a retry after the fix`,
    withDisk(async (disk) => {
      const ids = [1, 7, 3]
      for (const id of ids)
        await appendTo(disk.store, `diamond-${id}`, { type: 'DiamondCreated', data: createdData(id) })
      await runToHead(disk, [
        projecting(disk, part === 'createsDocument' ? failingOnDiamond7(part) : (diamonds as Projection<unknown>)),
      ])
      for (const id of ids) {
        await appendTo(disk.store, `diamond-${id}`, {
          type: 'DiamondPatched',
          data: { set: { price: id }, removed: [] },
        })
        await appendTo(disk.store, `scores-${id}`, { type: 'DiamondScored', data: scoresData(id) })
      }
      await runToHead(disk, [projecting(disk, failingOnDiamond7(part))])
      const model = await disk.reads.model(diamonds.declaration)
      for (const id of [1, 3]) assert.is((await readView(model, id)).diamond.fields.price, id)
      assert.ok((await parkedStreamsOf(disk.reads, diamonds.declaration)).every((stream) => stream.endsWith('-7')))
      assert.ok((await parkedStreamsOf(disk.reads, diamonds.declaration)).length > 0)

      const { store } = disk
      await retryStreams(commandContextOf(store), { model: 'diamonds', streams: ['diamond-7', 'scores-7'] }, origin)
      await runToHead(disk, [projecting(disk, diamonds)])
      assert.equal(await parkedStreamsOf(disk.reads, diamonds.declaration), [])
      assert.is((await readView(model, 7)).diamond.fields.price, 7)
    }),
  )
}

test(
  'that only toDocument rejects parks its stream, and the previous document stays',
  withDisk(async (disk) => {
    const price = (value: number) => ({ type: 'DiamondPatched', data: { set: { price: value }, removed: [] } })
    const unshowable: Projection<unknown> = {
      ...(diamonds as Projection<unknown>),
      toDocument(view) {
        const document: Document = diamonds.toDocument(view as Parameters<typeof diamonds.toDocument>[0])
        if (document['price'] === 13) throw new Error('13 cannot be shown')
        return document
      },
    }
    await appendTo(
      disk.store,
      'diamond-7',
      { type: 'DiamondCreated', data: createdData(7) },
      price(12),
      price(13),
      price(14),
    )
    await appendTo(disk.store, 'diamond-8', { type: 'DiamondCreated', data: createdData(8) }, price(13))
    await appendTo(disk.store, 'diamond-9', { type: 'DiamondCreated', data: createdData(9) }, price(9))
    await runToHead(disk, [projecting(disk, unshowable)])
    const model = await disk.reads.model(diamonds.declaration)
    const shown = await Promise.all([7, 8, 9].map(async (id) => readView(model, id)))
    // The batch ends with a valid price of diamond 7, so its price of 13 is never written.
    assert.equal(
      shown.map(({ diamond }) => diamond.fields.price),
      [14, null, 9],
    )
    assert.equal(await parkedStreamsOf(disk.reads, diamonds.declaration), ['diamond-8'])
  }),
)

const untraceable = new UntraceableCut('no facet meets another')
const failingFind = (cut: Cut) => {
  const found = findTracedCut(cut)
  if (found === undefined) throw untraceable
  return found
}
for (const [description, traced] of [
  ['when it is looked up', tracingTools(failingFind)],
  ['by the worker', tracingTools(findTracedCut, async () => Promise.reject(untraceable))],
] as const) {
  test(
    `that describes an untraceable cut (rejected ${description}) parks its diamond, and all others are scored`,
    withDisk(async (disk) => {
      const { store, reads } = disk
      const odd = createdData(7)
      await appendTo(store, 'diamond-7', {
        type: 'DiamondCreated',
        data: { ...odd, set: { ...odd.set, girdle: 'Thick' } },
      })
      for (const id of [8, 9]) await appendTo(store, `diamond-${id}`, { type: 'DiamondCreated', data: createdData(id) })
      const consumer = reacting(disk, scoringWith(store, traced))
      await runToHead(disk, [consumer])
      assert.equal(await parkedStreamsOf(reads, consumer.declaration), ['diamond-7'])
      for (const id of [8, 9]) assert.is((await store.readStream(`scores-${id}`)).length, 1)

      await retryStreams(commandContextOf(store), { model: 'scoring', streams: ['diamond-7'] }, origin)
      await runToHead(disk, [reacting(disk, scoringWith(store))])
      assert.equal(await parkedStreamsOf(reads, consumer.declaration), [])
      assert.is((await store.readStream('scores-7')).length, 1)
    }),
  )
}

test(
  'is not assumed when a store fails: the read is retried and no stream is parked',
  withDisk(async (disk) => {
    const { store, reads } = disk
    await appendValidStreams(disk, 1)
    let failures = 5
    const failing: EventStore = {
      ...store,
      readStream: async (...args) => {
        if (failures-- > 0) throw new Error('ECONNRESET')
        return store.readStream(...args)
      },
    }
    const consumers = await everyConsumer({ store: failing, reads, close: disk.close } as Disk)
    await runToHead(disk, consumers)
    assert.ok(failures < 0)
    for (const { declaration } of consumers) assert.equal(await parkedStreamsOf(reads, declaration), [])
    await assertProcessed(disk, 1)
  }),
)

test.run()
