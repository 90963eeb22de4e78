import { setTimeout as pause } from 'node:timers/promises'
import { retriesStream } from '../../domain/installation/installation.ts'
import { foldAgain } from '../../projections/engine/fold-batch.ts'
import { together, type Projection } from '../../projections/engine/read-model.ts'
import { NotInTree, TreeQueries } from '../../projections/tree/tree-queries.ts'
import { tree } from '../../projections/tree/tree.ts'
import { comparePositions, DamagedEvent, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { Build, Stored } from '../../stores/ports/read-store.ts'
import type { Installation } from '../../wiring/installation.ts'
import type { TreeVerified } from './compare-tree.ts'
import { differingIn } from './compare-model.ts'
import { Differences } from './differences.ts'
import { faultOf, FILE_HOLDERS } from './files.ts'
import { chosenOf } from './reservoir.ts'
import { RESTORE, StreamRules } from './stream-rules.ts'
import { COMPARED, type ModelVerified, type Verified } from './verify-installation.ts'

/** What a look at some documents of each read model found. The vault is not looked at. */
export type Sampled = Omit<Verified, 'vault'> & { readonly sample: number; readonly vault: null }

/** Tries to read a document and the checkpoint that belongs to it, and milliseconds between two. */
const TRIES = 200
const PAUSE = 10

type Sampling = Pick<Installation, 'store' | 'files'> & {
  readonly rules: StreamRules
  /** Streams whose events were looked at: a diamond and its certification are made of the same. */
  readonly looked: Set<string>
  readonly queries: TreeQueries
  readonly size: number
  readonly found: Differences
}

/**
 * Holds so many documents of each read model, chosen by chance, to the log: the events that each is made of, their places in the
 * hash tree, and the files that they name. It finds no document that is missing, and nothing that was not chosen.
 */
export async function verifySample(
  { store, reads, files }: Pick<Installation, 'store' | 'reads' | 'files'>,
  sample: number,
  signal: AbortSignal,
): Promise<{ verified: Sampled; differences: number }> {
  const started = performance.now()
  const found = new Differences()
  const queries = new TreeQueries(await reads.model(tree.declaration))
  const size = await queries.size()
  const sampling: Sampling = { store, files, rules: new StreamRules(found), looked: new Set(), queries, size, found }
  const models: Record<string, ModelVerified> = {}
  let read = 0
  for (const projection of COMPARED) {
    const { name } = projection.declaration
    const before = found.count
    const live = await reads.live(projection.declaration)
    const aside = new Set((await live.deadLetters()).map(({ stream }) => stream))
    const chosen = await chosenOf(live, sample)
    for (const stored of chosen) {
      signal.throwIfAborted()
      read += await checkDocument(sampling, projection, { live, aside, stored })
    }
    models[name] = { documents: chosen.length, differences: found.count - before }
  }
  const root = (await queries.root(size)).toString('base64')
  const treeFound: TreeVerified = { size, root, ok: !found.listed.some(({ what }) => what.includes(NOT_IN_TREE)) }
  const seconds = (performance.now() - started) / 1000
  const { count, listed: differences } = found
  const sums = { ok: count === 0, events: sampling.rules.events, seconds, models, files: read, tree: treeFound }
  return { verified: { ...sums, vault: null, sample, differences }, differences: count }
}

const NOT_IN_TREE = 'is not what was written, or stands elsewhere: the hash tree has another event in its place'

type Chosen = { readonly live: Build; readonly aside: ReadonlySet<string>; readonly stored: Stored }

/** @returns how many files were read */
async function checkDocument(
  sampling: Sampling,
  projection: Projection<unknown>,
  { live, aside, stored }: Chosen,
): Promise<number> {
  const { store, found } = sampling
  const key = stored.document['id'] ?? ''
  const { name } = projection.declaration
  const tell = (where: string, what: string, remedy: string) => found.add({ where, what, do: remedy })
  try {
    const read = await readWith(store, projection, live, stored)
    // It went since, or is set aside, which the whole of verify tells.
    if (read === undefined || read.streams.some((stream) => aside.has(stream))) return 0
    for (const event of read.events) if (!sampling.looked.has(event.stream)) await checkEvent(sampling, event)
    for (const stream of read.streams) sampling.looked.add(stream)
    const { writes } = await foldAgain(projection, read.events)
    const wanted = writes.flatMap((write) => ('put' in write && write.put['id'] === key ? [write.put] : []))[0]
    const numbers: readonly string[] = projection.numbering?.numbers ?? []
    const names =
      wanted === undefined ? ['all of it'] : differingIn(projection.declaration, read.stored.document, wanted)
    const differing = names.filter((field) => !numbers.includes(field))
    const where = `${read.streams[0] ?? name}@${read.events.at(-1)?.revision ?? 0n}`
    if (differing.length > 0)
      tell(where, `document ${key} of ${name} is not what the log says, in ${differing.join(', ')}`, rebuild(name))
    return await checkFile(sampling, name, read.stored, where)
  } catch (error) {
    if (!(error instanceof DamagedEvent)) throw error
    tell(`${error.event.stream}@${error.event.revision}`, error.message, RESTORE)
    return 0
  }
}

const rebuild = (name: string) =>
  `where the log is what was written, npx adamant rebuild ${name}; where an event was changed, npx adamant restore`

type Read = { readonly stored: Stored; readonly streams: readonly string[]; readonly events: readonly StoredEvent[] }

/** A document and all events that it is made of, as they were at one position of the build; undefined where it is gone. */
async function readWith(
  store: EventStore,
  projection: Projection<unknown>,
  live: Build,
  chosen: Stored,
): Promise<Read | undefined> {
  const key = chosen.document['id'] ?? ''
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const before = await live.checkpoint()
    const [stored] = await live.load([key], undefined, 'acknowledged')
    if (stored === undefined) return undefined
    const last = await store.eventAt({ commit: stored.revision, prepare: stored.revision })
    // What was made anew by a request says no more which streams it is made of.
    if (last?.stream === retriesStream(projection.declaration.name)) return undefined
    const streams = last === undefined ? [] : [...together(projection, [last.stream])]
    const position = before?.position ?? 'start'
    const read = (await Promise.all(streams.map((stream) => store.read(stream)))).flat()
    const after = (await live.checkpoint())?.position ?? 'start'
    if (comparePositions(position, after) === 0) {
      const events = read
        .filter((event) => comparePositions(event.position, position) <= 0)
        .toSorted((a, b) => comparePositions(a.position, b.position))
      return { stored, streams, events }
    }
    await pause(PAUSE)
  }
  return undefined
}

async function checkEvent({ rules, queries, size, found }: Sampling, event: StoredEvent): Promise<void> {
  rules.check(event)
  try {
    await queries.indexOf(event, size)
  } catch (error) {
    if (!(error instanceof NotInTree)) throw error
    found.add({ where: `${event.stream}@${event.revision}`, what: `${event.type} ${NOT_IN_TREE}`, do: RESTORE })
  }
}

/** @returns 1 where the document names a file */
async function checkFile(
  { files, found }: Sampling,
  model: string,
  { document }: Stored,
  where: string,
): Promise<number> {
  const digest = String(document['digest'] ?? '')
  if (digest === '' || !FILE_HOLDERS.some((holder) => holder.model === model)) return 0
  const fault = await faultOf(files, digest)
  if (fault !== undefined)
    found.add({ where, what: `the file ${digest} ${fault}`, do: 'put the file back from a backup' })
  return 1
}
