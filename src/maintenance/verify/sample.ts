import { randomInt } from 'node:crypto'
import { retriesStream } from '../../domain/installation/installation.ts'
import { foldFromStart } from '../../projections/engine/fold-batch.ts'
import { withRelatedStreams, type Projection } from '../../projections/engine/read-model.ts'
import { NotInTree, TreeQueries } from '../../projections/tree/tree-queries.ts'
import { merkleTree } from '../../projections/tree/merkle-tree.ts'
import {
  comparePositions,
  CorruptEvent,
  type PositionOrStart,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import type { ReadModelBuild, Document, FieldValue, StoredDocument } from '../../stores/ports/read-store.ts'
import type { Installation } from '../../wiring/installation.ts'
import { byKey, compareDocuments, documentTableOf, keyOf, type ExpectedDocumentsLookup } from './compare-model.ts'
import { Differences, RESTORE_REMEDY, toUnfoldableDifference } from './differences.ts'
import { checkFiles } from './files.ts'
import { StreamRules } from './stream-rules.ts'
import { COMPARED_MODELS, type ModelVerification, type Verification } from './verify.ts'

/**
 * Compares a random sample of each read model's documents with the log. Also checks the events that they are folded from, the
 * inclusion of these events in the Merkle tree, and the files that the documents refer to. It does not detect missing documents.
 * @throws the signal's reason
 */
export async function verifySample(
  { store, reads, files }: Pick<Installation, 'store' | 'reads' | 'files'>,
  sample: number,
  signal: AbortSignal,
): Promise<Verification> {
  const started = performance.now()
  const differences = new Differences()
  const queries = new TreeQueries(await reads.model(merkleTree.declaration))
  const size = await queries.size()
  const events = new SampledEvents(store, differences, { queries, size })
  const models: Record<string, ModelVerification> = {}
  const sampledDocuments = new Map<string, readonly Document[]>()
  for (const projection of COMPARED_MODELS) {
    signal.throwIfAborted()
    const { declaration, numbering } = projection
    const before = differences.count
    const live = await reads.live(declaration)
    const parkedStreams = new Set((await live.deadLetters()).map(({ stream }) => stream))
    const stored = await sampleDocuments(live, sample)
    // Number fields count events from the start of the log, which a sample does not read.
    const table = documentTableOf(declaration, new Set<string>(numbering?.numberFields))
    const lookUpExpected = createExpectedLookup(projection, events, parkedStreams)
    const { faultyStreams } = events.rules
    const comparison = {
      store,
      projection,
      live,
      lookUpExpected,
      minPosition: () => 'start' as const,
      faultyStreams,
      parkedStreams,
      differences,
      table,
    }
    await compareDocuments(comparison, stored.map(keyOf))
    sampledDocuments.set(
      declaration.name,
      stored.map(({ document }) => document),
    )
    models[declaration.name] = { documents: stored.length, differences: differences.count - before }
  }
  const fileCount = await checkFiles({ store, files, differences }, (model) => [sampledDocuments.get(model) ?? []])
  const root = (await queries.root(size)).toString('base64')
  const seconds = (performance.now() - started) / 1000
  const { count, listed } = differences
  const tree = { size, root, ok: events.areInTree }
  const totals = { ok: count === 0, events: events.rules.eventCount, seconds, models, files: fileCount, tree }
  return { report: { ...totals, vault: null, sample, differences: listed }, differences: count }
}

/** A uniform random sample of a build's documents, in one pass (reservoir sampling, Vitter's algorithm R). */
export async function sampleDocuments(build: Pick<ReadModelBuild, 'scan'>, count: number): Promise<StoredDocument[]> {
  const sampled: StoredDocument[] = []
  let seenCount = 0
  for await (const page of build.scan([])) {
    for (const stored of page) {
      seenCount++
      if (sampled.length < count) sampled.push(stored)
      else {
        const index = randomInt(seenCount)
        if (index < count) sampled[index] = stored
      }
    }
  }
  return sampled
}

/** Folds documents from their own streams only. Documents that cannot be checked this way are left to the full `verify`. */
function createExpectedLookup(
  projection: Projection<unknown>,
  events: SampledEvents,
  parkedStreams: ReadonlySet<string>,
): ExpectedDocumentsLookup {
  const { name } = projection.declaration
  return async (position, _keys, captured) => {
    const streamsByKey = new Map<FieldValue, readonly string[]>()
    for (const [key, stored] of captured) {
      const last = await events.readEventAt(stored.revision)
      // After a retry of dead letters, the last event of a document does not belong to the document's streams.
      if (last === 'damaged' || last?.stream === retriesStream(name)) continue
      streamsByKey.set(key, last === undefined ? [] : withRelatedStreams(projection, [last.stream]))
    }
    const eventsByStream = new Map<string, readonly StoredEvent[]>()
    for (const stream of new Set([...streamsByKey.values()].flat())) {
      const streamEvents = parkedStreams.has(stream) ? 'damaged' : await events.readStream(stream, position)
      if (streamEvents !== 'damaged') eventsByStream.set(stream, streamEvents)
    }
    const orderedEvents = [...eventsByStream.values()]
      .flat()
      .toSorted((a, b) => comparePositions(a.position, b.position))
    const { writes, deadLetters } = await foldFromStart(projection, orderedEvents)
    for (const letter of deadLetters)
      if (eventsByStream.delete(letter.stream)) events.differences.add(toUnfoldableDifference(name, letter))
    const puts = writes.flatMap((write) => ('put' in write ? [{ document: write.put, revision: write.revision }] : []))
    const folded = byKey(puts)
    const checkable = [...streamsByKey].filter(([, streams]) => streams.every((stream) => eventsByStream.has(stream)))
    return new Map(checkable.map(([key]) => [key, folded.get(key)]))
  }
}

type SampledTree = { readonly queries: TreeQueries; readonly size: number }

/** Reads the events that the sampled documents are folded from, and checks each stream once. */
class SampledEvents {
  readonly rules: StreamRules
  areInTree = true
  /** Streams that were checked, and damaged events that were reported. */
  readonly #checked = new Set<string>()
  readonly #store: Installation['store']
  readonly #tree: SampledTree

  constructor(
    store: Installation['store'],
    readonly differences: Differences,
    tree: SampledTree,
  ) {
    this.rules = new StreamRules(differences)
    this.#store = store
    this.#tree = tree
  }

  /** The event that last changed a document, if it exists. A damaged event is reported. */
  readEventAt(revision: bigint): Promise<StoredEvent | undefined | 'damaged'> {
    return this.#readIntact(() => this.#store.eventAt({ commit: revision, prepare: revision }))
  }

  /** The events of a stream up to a position. A damaged event is reported. */
  readStream(stream: string, position: PositionOrStart): Promise<readonly StoredEvent[] | 'damaged'> {
    return this.#readIntact(async () => {
      const storedEvents = await this.#store.readStream(stream)
      const events = storedEvents.filter((event) => comparePositions(event.position, position) <= 0)
      if (!this.#checked.has(stream)) for (const event of events) await this.#check(event)
      this.#checked.add(stream)
      return events
    })
  }

  async #readIntact<Read>(read: () => Promise<Read>): Promise<Read | 'damaged'> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof CorruptEvent)) throw error
      const where = `${error.event.stream}@${error.event.revision}`
      if (!this.#checked.has(where)) this.differences.add({ where, what: error.message, do: RESTORE_REMEDY })
      this.#checked.add(where)
      return 'damaged'
    }
  }

  async #check(event: StoredEvent): Promise<void> {
    const { queries, size } = this.#tree
    this.rules.check(event)
    try {
      await queries.indexOf(event, size)
    } catch (error) {
      if (!(error instanceof NotInTree)) throw error
      this.areInTree = false
      const what = 'was altered or moved: the Merkle tree has another event at its position'
      this.differences.add({
        where: `${event.stream}@${event.revision}`,
        what: `${event.type} ${what}`,
        do: RESTORE_REMEDY,
      })
    }
  }
}
