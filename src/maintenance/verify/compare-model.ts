import { setTimeout as pause } from 'node:timers/promises'
import { isSameSequence } from '../../projections/engine/account-sequence.ts'
import { withRelatedStreams, type AnyProjection } from '../../projections/engine/read-model.ts'
import {
  comparePositions,
  CorruptEvent,
  type EventStore,
  type PositionOrStart,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import type {
  ReadModelBuild,
  Document,
  FieldValue,
  ModelDeclaration,
  StoredDocument,
  DocumentTable,
} from '../../stores/ports/read-store.ts'
import { RESTORE_REMEDY, type Differences } from './differences.ts'
import type { FreshModel } from './fresh-model.ts'

/**
 * The documents according to the log, at a position of the live build. Keys that are missing from the result cannot be checked.
 * @param captured the live documents
 */
export type ExpectedDocumentsLookup = (
  position: PositionOrStart,
  keys: readonly FieldValue[],
  captured: ReadonlyMap<FieldValue, StoredDocument>,
) => Promise<ReadonlyMap<FieldValue, StoredDocument | undefined>>

/** A live build, and the documents according to the log. */
export type BuildComparison = {
  readonly store: Pick<EventStore, 'eventAt'>
  readonly projection: AnyProjection
  readonly live: ReadModelBuild
  readonly expected: ExpectedDocumentsLookup
  /** The lowest position at which documents can be compared. */
  readonly least: () => PositionOrStart
  /** Streams with differences in the log itself. */
  readonly faulty: ReadonlySet<string>
  /** Parked streams. They have been reported, and their documents are outdated. */
  readonly aside: ReadonlySet<string>
  readonly found: Differences
  readonly part: ComparedTable
}

/** A table of a build: documents or sequences. */
type ComparedTable = {
  tableOf(build: ReadModelBuild): DocumentTable
  describeKey(key: FieldValue): string
  /** Fields and texts in which two documents with the same key and position differ. */
  differingFieldsOf(one: Document, other: Document): string[]
}

/** @param unknown fields that cannot be checked */
export const documentTableOf = (
  { name, fields, texts }: ModelDeclaration,
  unknown: ReadonlySet<string> = new Set(),
): ComparedTable => ({
  tableOf: (build) => build,
  describeKey: (key) => `document ${key} of ${name}`,
  differingFieldsOf: (one, other) =>
    [...Object.keys(fields), ...texts].filter((field) => !unknown.has(field) && one[field] !== other[field]),
})

const sequenceTableOf = ({ name }: ModelDeclaration): ComparedTable => ({
  tableOf: ({ sequences }) => sequences,
  describeKey: (key) => `sequence ${key} of ${name}`,
  differingFieldsOf: (one, other) => (isSameSequence(one, other) ? [] : ['state']),
})

const isNumbered = (projection: AnyProjection) => 'numbering' in projection && projection.numbering !== undefined

/** Documents that are compared together. */
const BATCH_SIZE = 500

/** Attempts to read a consistent state of a build. */
const TRIES = 200
const RETRY_INTERVAL_MS = 10

/**
 * Reads from a live build until the result belongs to a single position: on MongoDB, documents of a batch in progress are visible
 * before the checkpoint.
 * @returns undefined if the build changes too often
 */
export async function readConsistent<Read>(
  live: ReadModelBuild,
  read: () => Promise<Read>,
  isSettled: (read: Read, position: PositionOrStart) => boolean,
): Promise<{ readonly position: PositionOrStart; readonly read: Read } | undefined> {
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const position = await positionOf(live)
    const found = await read()
    if (isSettled(found, position) && comparePositions(position, await positionOf(live)) === 0)
      return { position, read: found }
    await pause(RETRY_INTERVAL_MS)
  }
  return undefined
}

const positionOf = async (build: ReadModelBuild): Promise<PositionOrStart> =>
  (await build.checkpoint())?.position ?? 'start'

type ModelBuildComparison = Omit<BuildComparison, 'projection' | 'expected' | 'least' | 'part'> & {
  readonly fresh: FreshModel
}

/**
 * Compares the documents and sequences of a live build with a fresh fold, in both directions. While a service writes, the two are
 * at different positions: documents that differ are therefore compared again, at the same position.
 * @returns the number of documents in the live build
 */
export async function compareModel(given: ModelBuildComparison): Promise<number> {
  const { projection } = given.fresh
  const documents = await compareTables(given, documentTableOf(projection.declaration))
  if (isNumbered(projection)) await compareTables(given, sequenceTableOf(projection.declaration))
  return documents
}

/** @returns the number of documents in the live build */
async function compareTables({ fresh, ...given }: ModelBuildComparison, part: ComparedTable): Promise<number> {
  const [live, folded] = [part.tableOf(given.live), part.tableOf(fresh.build)]
  const expected: ExpectedDocumentsLookup = async (position, keys) => {
    await fresh.foldTo(position)
    const stored = byKey(await folded.load(keys))
    return new Map(keys.map((key) => [key, stored.get(key)]))
  }
  const comparing = { ...given, projection: fresh.projection, expected, least: () => fresh.position, part }
  let documents = 0
  let doubtful: FieldValue[] = []
  const doubt = async (keys: readonly FieldValue[], least = BATCH_SIZE) => {
    doubtful.push(...keys)
    if (doubtful.length < least) return
    const again = doubtful
    doubtful = []
    await compareDocuments(comparing, again)
  }
  for await (const page of live.scan()) {
    documents += page.length
    const there = byKey(await folded.load(page.map(keyOf)))
    await doubt(page.filter((stored) => differenceOf(part, stored, there.get(keyOf(stored))) !== undefined).map(keyOf))
  }
  for await (const page of folded.scan([])) {
    const there = byKey(await live.load(page.map(keyOf)))
    await doubt(page.map(keyOf).filter((key) => !there.has(key)))
  }
  await doubt([], 1)
  return documents
}

/** Compares documents of a live build with the log at the same position, and adds the differences to `found`. */
export async function compareDocuments(comparing: BuildComparison, keys: readonly FieldValue[]): Promise<void> {
  for (let from = 0; from < keys.length; from += BATCH_SIZE) {
    await compareBatch(comparing, keys.slice(from, from + BATCH_SIZE))
  }
}

async function compareBatch(comparing: BuildComparison, keys: readonly FieldValue[]): Promise<void> {
  const { store, projection, live, least, expected, part } = comparing
  const settled = await readConsistent(
    live,
    () => part.tableOf(live).load(keys, 'acknowledged'),
    (stored, position) =>
      comparePositions(least(), position) <= 0 &&
      stored.every(({ revision }) => position !== 'start' && revision <= position.commit),
  )
  if (settled === undefined) {
    if (keys.length > 1) for (const key of keys) await compareBatch(comparing, [key])
    else reportUnstableDocument(comparing, keys)
    return
  }
  const captured = byKey(settled.read)
  for (const [key, wanted] of await expected(settled.position, keys, captured)) {
    const stored = captured.get(key)
    const what = differenceOf(part, stored, wanted)
    if (what === undefined) continue
    const event = await findLastEvent(store, wanted ?? stored)
    reportDifference(comparing, {
      key,
      what,
      event,
      streams: event === undefined ? [] : withRelatedStreams(projection, [event.stream]),
    })
  }
}

type DocumentDifference = {
  readonly key: FieldValue
  readonly what: string
  readonly event: StoredEvent | undefined
  readonly streams: readonly string[]
}

function reportDifference(
  { projection, faulty, aside, found, part }: BuildComparison,
  { key, what, event, streams }: DocumentDifference,
): void {
  if (streams.some((stream) => aside.has(stream))) return
  const where = event === undefined ? part.describeKey(key) : `${event.stream}@${event.revision}`
  const remedy = streams.some((stream) => faulty.has(stream))
    ? RESTORE_REMEDY
    : ambiguousRemedyOf(projection.declaration.name)
  found.add({ where, what: `${part.describeKey(key)} ${what}`, do: remedy })
}

/** It is unknown whether the log or the read model was altered. */
const ambiguousRemedyOf = (name: string) =>
  `if the log is intact, run npx adamant rebuild ${name}; if an event was altered, run npx adamant restore`

function reportUnstableDocument({ projection, found, part }: BuildComparison, [key = '']: readonly FieldValue[]): void {
  found.add({
    where: part.describeKey(key),
    what: "is newer than its read model's position, or changes too often to be compared",
    do: `run verify again; if the difference remains, run npx adamant rebuild ${projection.declaration.name}`,
  })
}

/** How a live document differs from the one according to the log; undefined if they are equal. */
function differenceOf(
  part: ComparedTable,
  stored: StoredDocument | undefined,
  wanted: StoredDocument | undefined,
): string | undefined {
  if (stored === undefined) return wanted && 'is missing'
  if (wanted === undefined) return 'exists, but not according to the log'
  const names = part.differingFieldsOf(stored.document, wanted.document)
  return names.length === 0 ? undefined : `differs from the log in ${names.join(', ')}`
}

/** The event that last changed a document; undefined if it is missing or damaged. */
async function findLastEvent(
  store: Pick<EventStore, 'eventAt'>,
  stored: StoredDocument | undefined,
): Promise<StoredEvent | undefined> {
  const commit = stored?.revision ?? 0n
  try {
    return await store.eventAt({ commit, prepare: commit })
  } catch (error) {
    if (error instanceof CorruptEvent) return undefined
    throw error
  }
}

export const keyOf = ({ document }: StoredDocument): FieldValue => document['id'] ?? ''
export const byKey = (stored: readonly StoredDocument[]): ReadonlyMap<FieldValue, StoredDocument> =>
  new Map(stored.map((one) => [keyOf(one), one]))
