import { randomInt } from 'node:crypto'
import { retriesStream } from '../../domain/installation/installation.ts'
import { foldAgain } from '../../projections/engine/fold-batch.ts'
import { together, type Projection } from '../../projections/engine/read-model.ts'
import { NotInTree, TreeQueries } from '../../projections/tree/tree-queries.ts'
import { tree } from '../../projections/tree/tree.ts'
import { comparePositions, DamagedEvent, type From, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { Build, Document, FieldValue, Stored } from '../../stores/ports/read-store.ts'
import type { Installation } from '../../wiring/installation.ts'
import { byKey, compareDocuments, documentsOf, keyOf, type Expected } from './compare-model.ts'
import { Differences, RESTORE, unfoldable } from './differences.ts'
import { checkFiles } from './files.ts'
import { StreamRules } from './stream-rules.ts'
import { COMPARED, type ModelVerified, type Verification } from './verify.ts'

/**
 * Compares a random sample of each read model's documents with the log, and checks the events that they are folded from, the places
 * of these in the hash tree, and the files that they name. It finds no missing document.
 * @throws the signal's reason
 */
export async function verifySample(
  { store, reads, files }: Pick<Installation, 'store' | 'reads' | 'files'>,
  sample: number,
  signal: AbortSignal,
): Promise<Verification> {
  const started = performance.now()
  const found = new Differences()
  const queries = new TreeQueries(await reads.model(tree.declaration))
  const size = await queries.size()
  const events = new SampledEvents(store, found, { queries, size })
  const models: Record<string, ModelVerified> = {}
  const chosen = new Map<string, readonly Document[]>()
  for (const projection of COMPARED) {
    signal.throwIfAborted()
    const { declaration, numbering } = projection
    const before = found.count
    const live = await reads.live(declaration)
    const aside = new Set((await live.deadLetters()).map(({ stream }) => stream))
    const stored = await chosenOf(live, sample)
    // Their events are not counted from the beginning of the log.
    const part = documentsOf(declaration, new Set<string>(numbering?.numbers))
    const expected = expectedOf(projection, events, aside)
    const { faulty } = events.rules
    const comparing = { store, projection, live, expected, least: () => 'start' as const, faulty, aside, found, part }
    await compareDocuments(comparing, stored.map(keyOf))
    chosen.set(
      declaration.name,
      stored.map(({ document }) => document),
    )
    models[declaration.name] = { documents: stored.length, differences: found.count - before }
  }
  const read = await checkFiles({ store, files, found }, (model) => [chosen.get(model) ?? []])
  const root = (await queries.root(size)).toString('base64')
  const seconds = (performance.now() - started) / 1000
  const { count, listed: differences } = found
  const treeFound = { size, root, ok: events.areInTree }
  const sums = { ok: count === 0, events: events.rules.events, seconds, models, files: read, tree: treeFound }
  return { verified: { ...sums, vault: null, sample, differences }, differences: count }
}

/** So many documents of a build, each with the same chance, in one walk (Vitter's algorithm R). */
export async function chosenOf(build: Pick<Build, 'walk'>, count: number): Promise<Stored[]> {
  const chosen: Stored[] = []
  let seen = 0
  for await (const page of build.walk([])) {
    for (const stored of page) {
      seen++
      if (chosen.length < count) chosen.push(stored)
      else {
        const place = randomInt(seen)
        if (place < count) chosen[place] = stored
      }
    }
  }
  return chosen
}

/** Documents folded from their own streams alone. Those that can't be judged this way are left to the full `verify`. */
function expectedOf(projection: Projection<unknown>, events: SampledEvents, aside: ReadonlySet<string>): Expected {
  const { name } = projection.declaration
  return async (position, _keys, captured) => {
    const streamsOf = new Map<FieldValue, readonly string[]>()
    for (const [key, stored] of captured) {
      const last = await events.at(stored.revision)
      // A document that was folded again after a retry no longer tells its streams.
      if (last === 'damaged' || last?.stream === retriesStream(name)) continue
      streamsOf.set(key, last === undefined ? [] : together(projection, [last.stream]))
    }
    const read = new Map<string, readonly StoredEvent[]>()
    for (const stream of new Set([...streamsOf.values()].flat())) {
      const found = aside.has(stream) ? 'damaged' : await events.of(stream, position)
      if (found !== 'damaged') read.set(stream, found)
    }
    const inOrder = [...read.values()].flat().toSorted((a, b) => comparePositions(a.position, b.position))
    const { writes, letters } = await foldAgain(projection, inOrder)
    for (const letter of letters) if (read.delete(letter.stream)) events.found.add(unfoldable(name, letter))
    const puts = writes.flatMap((write) => ('put' in write ? [{ document: write.put, revision: write.revision }] : []))
    const folded = byKey(puts)
    const judged = [...streamsOf].filter(([, streams]) => streams.every((stream) => read.has(stream)))
    return new Map(judged.map(([key]) => [key, folded.get(key)]))
  }
}

type Tree = { readonly queries: TreeQueries; readonly size: number }

/** The events that the sampled documents are folded from: each stream is checked once. */
class SampledEvents {
  readonly rules: StreamRules
  areInTree = true
  /** Streams that were looked at, and places of damaged events. */
  readonly #looked = new Set<string>()
  readonly #store: Installation['store']
  readonly #tree: Tree

  constructor(
    store: Installation['store'],
    readonly found: Differences,
    tree: Tree,
  ) {
    this.rules = new StreamRules(found)
    this.#store = store
    this.#tree = tree
  }

  /** The event that a document was last changed by, if it is there. A damaged event is reported. */
  at(revision: bigint): Promise<StoredEvent | undefined | 'damaged'> {
    return this.#whole(() => this.#store.eventAt({ commit: revision, prepare: revision }))
  }

  /** The events of a stream up to a position. A damaged event is reported. */
  of(stream: string, position: From): Promise<readonly StoredEvent[] | 'damaged'> {
    return this.#whole(async () => {
      const read = await this.#store.read(stream)
      const events = read.filter((event) => comparePositions(event.position, position) <= 0)
      if (!this.#looked.has(stream)) for (const event of events) await this.#check(event)
      this.#looked.add(stream)
      return events
    })
  }

  async #whole<Read>(read: () => Promise<Read>): Promise<Read | 'damaged'> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof DamagedEvent)) throw error
      const where = `${error.event.stream}@${error.event.revision}`
      if (!this.#looked.has(where)) this.found.add({ where, what: error.message, do: RESTORE })
      this.#looked.add(where)
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
      const what = 'is not what was written, or stands elsewhere: the hash tree has another event in its place'
      this.found.add({ where: `${event.stream}@${event.revision}`, what: `${event.type} ${what}`, do: RESTORE })
    }
  }
}
