import { setTimeout as pause } from 'node:timers/promises'
import { isSameSequence } from '../../projections/engine/account-sequence.ts'
import { together, type AnyProjection } from '../../projections/engine/read-model.ts'
import {
  comparePositions,
  DamagedEvent,
  type EventStore,
  type From,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import type { Build, Document, FieldValue, ModelDeclaration, Stored, Table } from '../../stores/ports/read-store.ts'
import { RESTORE, type Differences } from './differences.ts'
import type { FreshModel } from './fresh-model.ts'

/**
 * What the log folds to at a position of the live build. A key that is missing from the answer can't be judged.
 * @param captured the live ones
 */
export type Expected = (
  position: From,
  keys: readonly FieldValue[],
  captured: ReadonlyMap<FieldValue, Stored>,
) => Promise<ReadonlyMap<FieldValue, Stored | undefined>>

/** A live build and what the log folds to. */
export type Comparing = {
  readonly store: Pick<EventStore, 'eventAt'>
  readonly projection: AnyProjection
  readonly live: Build
  readonly expected: Expected
  /** Documents are compared at a position that is not before this one. */
  readonly least: () => From
  /** Streams of which something is wrong in the log itself. */
  readonly faulty: ReadonlySet<string>
  /** Parked streams: they are reported already, and their documents are as old as the event that could not be folded. */
  readonly aside: ReadonlySet<string>
  readonly found: Differences
  readonly part: Part
}

/** What of a build is compared. */
type Part = {
  of(build: Build): Table
  called(key: FieldValue): string
  /** The fields and texts in which two documents of one key differ, both folded up to the same position. */
  differing(one: Document, other: Document): string[]
}

/** @param unknown fields of which nothing can be said */
export const documentsOf = (
  { name, fields, texts }: ModelDeclaration,
  unknown: ReadonlySet<string> = new Set(),
): Part => ({
  of: (build) => build,
  called: (key) => `document ${key} of ${name}`,
  differing: (one, other) =>
    [...Object.keys(fields), ...texts].filter((field) => !unknown.has(field) && one[field] !== other[field]),
})

const sequencesOf = ({ name }: ModelDeclaration): Part => ({
  of: ({ sequences }) => sequences,
  called: (key) => `sequence ${key} of ${name}`,
  differing: (one, other) => (isSameSequence(one, other) ? [] : ['state']),
})

const isNumbered = (projection: AnyProjection) => 'numbering' in projection && projection.numbering !== undefined

/** Documents that are looked at together. */
const TOGETHER = 500

/** Tries to read what belongs to one position of a build, and milliseconds between two. */
const TRIES = 200
const PAUSE = 10

/**
 * Reads from a live build until what was read belongs to one position of it: MongoDB has documents before the checkpoint, and
 * those are of a batch that is under way.
 * @returns undefined where it changes too often to tell
 */
export async function readSettled<Read>(
  live: Build,
  read: () => Promise<Read>,
  isSettled: (read: Read, position: From) => boolean,
): Promise<{ readonly position: From; readonly read: Read } | undefined> {
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const position = await positionOf(live)
    const found = await read()
    if (isSettled(found, position) && comparePositions(position, await positionOf(live)) === 0)
      return { position, read: found }
    await pause(PAUSE)
  }
  return undefined
}

const positionOf = async (build: Build): Promise<From> => (await build.checkpoint())?.position ?? 'start'

type ComparingModel = Omit<Comparing, 'projection' | 'expected' | 'least' | 'part'> & { readonly fresh: FreshModel }

/**
 * Compares a live build with a fresh fold, document by document, in both directions, and its sequences. While a service writes
 * on, the two are of different positions: only what differs at first is compared at one position.
 * @returns how many documents the live build has
 */
export async function compareModel(given: ComparingModel): Promise<number> {
  const { projection } = given.fresh
  const documents = await compareTables(given, documentsOf(projection.declaration))
  if (isNumbered(projection)) await compareTables(given, sequencesOf(projection.declaration))
  return documents
}

/** @returns how many the live build has */
async function compareTables({ fresh, ...given }: ComparingModel, part: Part): Promise<number> {
  const [live, folded] = [part.of(given.live), part.of(fresh.build)]
  const expected: Expected = async (position, keys) => {
    await fresh.foldTo(position)
    const stored = byKey(await folded.load(keys))
    return new Map(keys.map((key) => [key, stored.get(key)]))
  }
  const comparing = { ...given, projection: fresh.projection, expected, least: () => fresh.position, part }
  let documents = 0
  let doubtful: FieldValue[] = []
  const doubt = async (keys: readonly FieldValue[], least = TOGETHER) => {
    doubtful.push(...keys)
    if (doubtful.length < least) return
    const again = doubtful
    doubtful = []
    await compareDocuments(comparing, again)
  }
  for await (const page of live.walk()) {
    documents += page.length
    const there = byKey(await folded.load(page.map(keyOf)))
    await doubt(page.filter((stored) => differenceOf(part, stored, there.get(keyOf(stored))) !== undefined).map(keyOf))
  }
  for await (const page of folded.walk([])) {
    const there = byKey(await live.load(page.map(keyOf)))
    await doubt(page.map(keyOf).filter((key) => !there.has(key)))
  }
  await doubt([], 1)
  return documents
}

/** Compares these documents of a live build with what the log folds to at the same position, and adds what differs to `found`. */
export async function compareDocuments(comparing: Comparing, keys: readonly FieldValue[]): Promise<void> {
  for (let from = 0; from < keys.length; from += TOGETHER) {
    await compareTogether(comparing, keys.slice(from, from + TOGETHER))
  }
}

async function compareTogether(comparing: Comparing, keys: readonly FieldValue[]): Promise<void> {
  const { store, projection, live, least, expected, part } = comparing
  const settled = await readSettled(
    live,
    () => part.of(live).load(keys, 'acknowledged'),
    (stored, position) =>
      comparePositions(least(), position) <= 0 &&
      stored.every(({ revision }) => position !== 'start' && revision <= position.commit),
  )
  if (settled === undefined) {
    if (keys.length > 1) for (const key of keys) await compareTogether(comparing, [key])
    else tellUnsteady(comparing, keys)
    return
  }
  const captured = byKey(settled.read)
  for (const [key, wanted] of await expected(settled.position, keys, captured)) {
    const stored = captured.get(key)
    const what = differenceOf(part, stored, wanted)
    if (what === undefined) continue
    const event = await lastOf(store, wanted ?? stored)
    tell(comparing, { key, what, event, streams: event === undefined ? [] : together(projection, [event.stream]) })
  }
}

type Difference = {
  readonly key: FieldValue
  readonly what: string
  readonly event: StoredEvent | undefined
  readonly streams: readonly string[]
}

function tell({ projection, faulty, aside, found, part }: Comparing, { key, what, event, streams }: Difference): void {
  if (streams.some((stream) => aside.has(stream))) return
  const where = event === undefined ? part.called(key) : `${event.stream}@${event.revision}`
  const remedy = streams.some((stream) => faulty.has(stream)) ? RESTORE : eitherIsWrong(projection.declaration.name)
  found.add({ where, what: `${part.called(key)} ${what}`, do: remedy })
}

/** Nothing tells here which of the two was changed. */
const eitherIsWrong = (name: string) =>
  `where the log is what was written, npx adamant rebuild ${name}; where an event was changed, npx adamant restore`

function tellUnsteady({ projection, found, part }: Comparing, [key = '']: readonly FieldValue[]): void {
  found.add({
    where: part.called(key),
    what: 'is newer than its model says, or changes too often to be compared',
    do: `run it again; where it stays, npx adamant rebuild ${projection.declaration.name}`,
  })
}

/** How a live document differs from what the log makes; undefined where it does not. */
function differenceOf(part: Part, stored: Stored | undefined, wanted: Stored | undefined): string | undefined {
  if (stored === undefined) return wanted && 'is missing'
  if (wanted === undefined) return 'is there, and the log knows of none'
  const names = part.differing(stored.document, wanted.document)
  return names.length === 0 ? undefined : `is not what the log says, in ${names.join(', ')}`
}

/** The event that a document was last changed by, where it is still there and whole. */
async function lastOf(
  store: Pick<EventStore, 'eventAt'>,
  stored: Stored | undefined,
): Promise<StoredEvent | undefined> {
  const commit = stored?.revision ?? 0n
  try {
    return await store.eventAt({ commit, prepare: commit })
  } catch (error) {
    if (error instanceof DamagedEvent) return undefined
    throw error
  }
}

export const keyOf = ({ document }: Stored): FieldValue => document['id'] ?? ''
export const byKey = (stored: readonly Stored[]): ReadonlyMap<FieldValue, Stored> =>
  new Map(stored.map((one) => [keyOf(one), one]))
