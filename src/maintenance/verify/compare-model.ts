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
type BuildComparison = {
  readonly store: Pick<EventStore, 'eventAt'>
  readonly projection: AnyProjection
  readonly live: ReadModelBuild
  readonly lookUpExpected: ExpectedDocumentsLookup
  /** The lowest position at which documents can be compared. */
  readonly minPosition: () => PositionOrStart
  /** Streams with differences in the log itself. */
  readonly faultyStreams: ReadonlySet<string>
  /** Parked streams. They have been reported, and their documents are outdated. */
  readonly parkedStreams: ReadonlySet<string>
  readonly differences: Differences
  readonly table: ComparedTable
}

/** A table of a build: documents or sequences. */
type ComparedTable = {
  findIn(build: ReadModelBuild): DocumentTable
  describeKey(key: FieldValue): string
  /** Fields and texts in which two documents with the same key and position differ. */
  differingFieldsOf(one: Document, other: Document): string[]
}

/** @param uncheckedFields fields that cannot be checked */
export const documentTableOf = (
  { name, fields, texts }: ModelDeclaration,
  uncheckedFields: ReadonlySet<string> = new Set(),
): ComparedTable => ({
  findIn: (build) => build,
  describeKey: (key) => `document ${key} of ${name}`,
  differingFieldsOf: (one, other) =>
    [...Object.keys(fields), ...texts].filter((field) => !uncheckedFields.has(field) && one[field] !== other[field]),
})

const sequenceTableOf = ({ name }: ModelDeclaration): ComparedTable => ({
  findIn: ({ sequences }) => sequences,
  describeKey: (key) => `sequence ${key} of ${name}`,
  differingFieldsOf: (one, other) => (isSameSequence(one, other) ? [] : ['state']),
})

const isNumbered = (projection: AnyProjection) => 'numbering' in projection && projection.numbering !== undefined

/** Documents that are compared together. */
const BATCH_SIZE = 500

/** Attempts to read a consistent state of a build. */
const MAX_READ_ATTEMPTS = 200
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
  for (let attempt = 1; attempt <= MAX_READ_ATTEMPTS; attempt++) {
    const position = await positionOf(live)
    const result = await read()
    if (isSettled(result, position) && comparePositions(position, await positionOf(live)) === 0)
      return { position, read: result }
    await pause(RETRY_INTERVAL_MS)
  }
  return undefined
}

const positionOf = async (build: ReadModelBuild): Promise<PositionOrStart> =>
  (await build.checkpoint())?.position ?? 'start'

type ModelBuildComparison = Omit<BuildComparison, 'projection' | 'lookUpExpected' | 'minPosition' | 'table'> & {
  readonly fresh: FreshModel
}

/**
 * Compares the documents and sequences of a live build with a fresh fold, in both directions. While a service writes, the two are
 * at different positions: documents that differ are therefore compared again, at the same position.
 * @returns the number of documents in the live build
 */
export async function compareModel(comparison: ModelBuildComparison): Promise<number> {
  const { projection } = comparison.fresh
  const documents = await compareTables(comparison, documentTableOf(projection.declaration))
  if (isNumbered(projection)) await compareTables(comparison, sequenceTableOf(projection.declaration))
  return documents
}

/** @returns the number of documents in the live build */
async function compareTables({ fresh, ...comparison }: ModelBuildComparison, table: ComparedTable): Promise<number> {
  const [live, folded] = [table.findIn(comparison.live), table.findIn(fresh.build)]
  const lookUpExpected: ExpectedDocumentsLookup = async (position, keys) => {
    await fresh.foldTo(position)
    const stored = byKey(await folded.load(keys))
    return new Map(keys.map((key) => [key, stored.get(key)]))
  }
  const buildComparison = {
    ...comparison,
    projection: fresh.projection,
    lookUpExpected,
    minPosition: () => fresh.position,
    table,
  }
  let documents = 0
  let pendingKeys: FieldValue[] = []
  const queueRecheck = async (keys: readonly FieldValue[], batchSize = BATCH_SIZE) => {
    pendingKeys.push(...keys)
    if (pendingKeys.length < batchSize) return
    const batch = pendingKeys
    pendingKeys = []
    await compareDocuments(buildComparison, batch)
  }
  for await (const page of live.scan()) {
    documents += page.length
    const foldedDocuments = byKey(await folded.load(page.map(keyOf)))
    await queueRecheck(
      page.filter((stored) => differenceOf(table, stored, foldedDocuments.get(keyOf(stored))) !== undefined).map(keyOf),
    )
  }
  for await (const page of folded.scan([])) {
    const liveDocuments = byKey(await live.load(page.map(keyOf)))
    await queueRecheck(page.map(keyOf).filter((key) => !liveDocuments.has(key)))
  }
  await queueRecheck([], 1)
  return documents
}

/** Compares documents of a live build with the log at the same position, and adds the differences to `differences`. */
export async function compareDocuments(comparison: BuildComparison, keys: readonly FieldValue[]): Promise<void> {
  for (let from = 0; from < keys.length; from += BATCH_SIZE) {
    await compareBatch(comparison, keys.slice(from, from + BATCH_SIZE))
  }
}

async function compareBatch(comparison: BuildComparison, keys: readonly FieldValue[]): Promise<void> {
  const { store, projection, live, minPosition, lookUpExpected, table } = comparison
  const consistentRead = await readConsistent(
    live,
    () => table.findIn(live).load(keys, 'acknowledged'),
    (stored, position) =>
      comparePositions(minPosition(), position) <= 0 &&
      stored.every(({ revision }) => position !== 'start' && revision <= position.commit),
  )
  if (consistentRead === undefined) {
    if (keys.length > 1) for (const key of keys) await compareBatch(comparison, [key])
    else reportUnstableDocument(comparison, keys)
    return
  }
  const captured = byKey(consistentRead.read)
  for (const [key, expected] of await lookUpExpected(consistentRead.position, keys, captured)) {
    const stored = captured.get(key)
    const what = differenceOf(table, stored, expected)
    if (what === undefined) continue
    const event = await findLastEvent(store, expected ?? stored)
    reportDifference(comparison, {
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
  { projection, faultyStreams, parkedStreams, differences, table }: BuildComparison,
  { key, what, event, streams }: DocumentDifference,
): void {
  if (streams.some((stream) => parkedStreams.has(stream))) return
  const where = event === undefined ? table.describeKey(key) : `${event.stream}@${event.revision}`
  const remedy = streams.some((stream) => faultyStreams.has(stream))
    ? RESTORE_REMEDY
    : ambiguousRemedyOf(projection.declaration.name)
  differences.add({ where, what: `${table.describeKey(key)} ${what}`, do: remedy })
}

/** It is unknown whether the log or the read model was altered. */
const ambiguousRemedyOf = (name: string) =>
  `if the log is intact, run adamant rebuild ${name}; if an event was altered, run adamant restore`

function reportUnstableDocument(
  { projection, differences, table }: BuildComparison,
  [key = '']: readonly FieldValue[],
): void {
  differences.add({
    where: table.describeKey(key),
    what: "is newer than its read model's position, or changes too often to be compared",
    do: `run verify again; if the difference remains, run adamant rebuild ${projection.declaration.name}`,
  })
}

/** How a live document differs from the one according to the log; undefined if they are equal. */
function differenceOf(
  table: ComparedTable,
  stored: StoredDocument | undefined,
  expected: StoredDocument | undefined,
): string | undefined {
  if (stored === undefined) return expected && 'is missing'
  if (expected === undefined) return 'exists, but not according to the log'
  const names = table.differingFieldsOf(stored.document, expected.document)
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
