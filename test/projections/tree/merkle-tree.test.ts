import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { canonicalJson, toLeafEvent } from '../../../src/evidence/hashes.ts'
import { rootFromInclusionProof } from '../../../src/evidence/proof.ts'
import { BatchWriter } from '../../../src/projections/engine/batch-writer.ts'
import { NotInTree, TreeQueries } from '../../../src/projections/tree/tree-queries.ts'
import { isLeaf, merkleTree } from '../../../src/projections/tree/merkle-tree.ts'
import { createLogger } from '../../../src/runtime/logger.ts'
import type {
  SubscriptionBatch,
  EventStore,
  PositionOrStart,
  StoredEvent,
} from '../../../src/stores/ports/event-store.ts'
import type {
  ReadModelBuild,
  Document,
  FieldValue,
  StoredDocument,
  DocumentWrite,
} from '../../../src/stores/ports/read-store.ts'
import { plainRoot } from '../../evidence/plain-tree.ts'
import { consumerOf, vendorOf, withDisk, type Disk } from '../engine/inventory-on-disk.ts'
import { randomFor } from '../../seeded.ts'

const test = suite('the Merkle tree of the event log')
const silent = createLogger('silent')

async function readEvents({ store }: Disk): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for await (const event of store.readAll('start')) events.push(event)
  return events
}

const leafBytes = (event: StoredEvent) => Buffer.from(canonicalJson(toLeafEvent(event)))

/** Appends created, patched and deleted diamonds, and one event that a move does not copy. */
async function fillLog({ store }: Disk): Promise<StoredEvent[]> {
  const vendor = vendorOf(store)
  const stones = await vendor.create(300)
  for (const id of stones.slice(0, 20)) await vendor.patch(id, { price: id })
  const joined = { id: randomUUID(), type: 'StoresJoined', data: { vault: 'v', files: 'f', place: 'p' }, metadata: {} }
  await store.append('stores', 'none', [joined])
  for (const id of stones.slice(0, 5)) await vendor.remove(id)
  return readEvents({ store } as Disk)
}

test(
  'has one leaf per event in log order, except for events that a move does not copy',
  withDisk(async (disk) => {
    const events = await fillLog(disk)
    await consumerOf(disk, merkleTree).rebuild()
    const queries = new TreeQueries(await disk.reads.model(merkleTree.declaration))
    const leaves = events.filter(isLeaf)
    assert.is(events.length - leaves.length, 1)
    assert.is(await queries.size(), leaves.length)
    assert.equal(await queries.root(leaves.length), plainRoot(leaves.map(leafBytes)))
  }),
)

test(
  'finds each event by its position and proves its inclusion',
  withDisk(async (disk) => {
    const leaves = (await fillLog(disk)).filter(isLeaf)
    await consumerOf(disk, merkleTree).rebuild()
    const queries = new TreeQueries(await disk.reads.model(merkleTree.declaration))
    const root = await queries.root(leaves.length)
    for (const [index, event] of leaves.entries()) {
      assert.is(await queries.indexOf(event, leaves.length), index)
      const path = await queries.inclusionProof(index, leaves.length)
      assert.ok(rootFromInclusionProof(plainRoot([leafBytes(event)]), index, leaves.length, path)?.equals(root))
    }
    const [first] = leaves
    assert.is(first && (await queries.indexOf(leaves[299] ?? first, 299)), undefined)
    const changed = { ...(leaves[5] as StoredEvent), data: { changed: true } }
    const thrown = await queries.indexOf(changed, leaves.length).catch((error: unknown) => error)
    assert.instance(thrown, NotInTree)
  }),
)

/** A build whose write may stop halfway, as a crash can cause on MongoDB. */
class InterruptibleBuild implements Pick<ReadModelBuild, 'load' | 'write' | 'checkpoint' | 'deadLetters'> {
  readonly documents = new Map<FieldValue, StoredDocument>()
  at: Awaited<ReturnType<ReadModelBuild['checkpoint']>>

  constructor(private readonly breaks: (write: number) => boolean) {}

  checkpoint = async () => this.at
  deadLetters = async () => []
  load = async (keys: readonly FieldValue[]) => keys.flatMap((key) => this.documents.get(key) ?? [])

  async write(writes: readonly DocumentWrite[], checkpoint: NonNullable<typeof this.at>): Promise<void> {
    for (const [at, write] of writes.entries()) {
      if (this.breaks(at)) throw new Error('write interrupted')
      if (!('put' in write)) throw new Error('the tree never removes a document')
      const key = write.put['id'] ?? ''
      const stored = this.documents.get(key)
      if (stored === undefined || stored.revision < write.revision) {
        this.documents.set(key, { document: write.put, revision: write.revision })
      }
    }
    if (this.breaks(writes.length)) throw new Error('write interrupted')
    this.at = checkpoint
  }

  get model() {
    const get = async (key: FieldValue): Promise<Document | undefined> => this.documents.get(key)?.document
    return { get, find: async () => this.#tiles(), position: async () => this.at?.position ?? ('start' as const) }
  }

  /** Tiles of leaves, newest first. */
  #tiles(): Document[] {
    const tiles = [...this.documents.values()].map(({ document }) => document)
    return tiles.filter(({ commit }) => Number(commit) >= 0).reverse()
  }
}

const event = (index: number): StoredEvent => ({
  stream: index % 17 === 0 ? 'stores' : `diamond-${index}`,
  revision: 0n,
  position: { commit: BigInt(index * 3 + 1), prepare: BigInt(index * 3 + 1) },
  id: `e-${index}`,
  type: 'Something',
  data: { index },
  metadata: {},
})

const emptyLog = {
  identity: async () => 'log',
  readStream: async () => [],
  eventAt: async () => undefined,
} as unknown as EventStore

test('reports an event appended after the queried tree size as missing, not as changed', async () => {
  const events = Array.from({ length: 20 }, (_, index) => event(index)).filter(isLeaf)
  const [read, added] = [events.slice(0, 10), events.slice(10)]
  const build = new InterruptibleBuild(() => false)
  const writer = await BatchWriter.open(merkleTree, emptyLog, build as unknown as ReadModelBuild, silent)
  const write = async (some: StoredEvent[]) => {
    await writer.write({ events: some, position: some.at(-1)?.position ?? 'start', caughtUp: false })
    await writer.flush()
  }
  await write(read)
  const queries = new TreeQueries(build.model)
  assert.is(await queries.indexOf(read[1] as StoredEvent, read.length), 1)
  await write(added)
  assert.is(await queries.indexOf(added[0] as StoredEvent, read.length), undefined)
  assert.is(await new TreeQueries(build.model).indexOf(added[0] as StoredEvent, events.length), read.length)
})

test('is the same for any batch sizes, and after writes that stop halfway and are retried', async () => {
  const events = Array.from({ length: 1_500 }, (_, index) => event(index))
  const root = plainRoot(events.filter(isLeaf).map(leafBytes))
  for (let seed = 1; seed <= 30; seed++) {
    const seeded = randomFor(`the tree of the log, ${seed}`)
    const random = () => seeded.next()
    const build = new InterruptibleBuild(() => random() < 0.15)
    const indexAfter = (from: PositionOrStart) =>
      from === 'start' ? 0 : events.findIndex(({ position }) => position === from) + 1
    while (indexAfter(build.at?.position ?? 'start') < events.length) {
      const writer = await BatchWriter.open(merkleTree, emptyLog, build as unknown as ReadModelBuild, silent)
      try {
        for (let at = indexAfter(writer.position); at < events.length;) {
          const some = events.slice(at, at + 1 + Math.floor(random() ** 4 * 700))
          const position = some.at(-1)?.position ?? 'start'
          await writer.write({ events: some, position, caughtUp: false } satisfies SubscriptionBatch)
          at += some.length
        }
        await writer.flush()
      } catch (error) {
        assert.match(String(error), 'write interrupted')
      }
    }
    const queries = new TreeQueries(build.model)
    const size = await queries.size()
    assert.is(size, events.filter(isLeaf).length, `seed ${seed}`)
    assert.equal(await queries.root(size), root, `seed ${seed}`)
  }
})

test.run()
