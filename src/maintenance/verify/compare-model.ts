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
import type { Differences } from './differences.ts'
import type { FreshModel } from './fresh-model.ts'
import { tellSetAside } from './set-aside.ts'
import { RESTORE } from './stream-rules.ts'

/** A live build beside what the log folds to. */
type Comparing = {
  readonly store: Pick<EventStore, 'eventAt'>
  readonly live: Build
  readonly fresh: FreshModel
  /** Streams of which something is wrong in the log itself. */
  readonly faulty: ReadonlySet<string>
  readonly found: Differences
  /** Streams that are set aside: what is made of them was told of, and is as old as that. */
  readonly aside: ReadonlySet<string>
  readonly part: Part
}

/** What of a build is compared. */
type Part = {
  of(build: Build): Table
  called(key: FieldValue): string
  /** The fields and texts in which two of one key differ, both written up to the same position. */
  differing(one: Document, other: Document): string[]
}

/** Names of fields and texts. */
export const differingIn = ({ fields, texts }: ModelDeclaration, one: Document, other: Document): string[] =>
  [...Object.keys(fields), ...texts].filter((name) => one[name] !== other[name])

const documentsOf = (declaration: ModelDeclaration): Part => ({
  of: (build) => build,
  called: (key) => `document ${key} of ${declaration.name}`,
  differing: (one, other) => differingIn(declaration, one, other),
})

const sequencesOf = ({ name }: ModelDeclaration): Part => ({
  of: ({ sequences }) => sequences,
  called: (key) => `sequence ${key} of ${name}`,
  differing: (one, other) => (isSameSequence(one, other) ? [] : ['state']),
})

const isNumbered = (projection: AnyProjection) => 'numbering' in projection && projection.numbering !== undefined

/** Documents that are looked at again together. */
const TOGETHER = 500
/** Tries to read documents and the checkpoint that belongs to them, and milliseconds between two. */
const TRIES = 200
const PAUSE = 10

/**
 * Compares a live build with a fresh fold, document by document, in both directions. While a service writes on, the two are of different
 * positions: what differs is read again together with the live build's checkpoint, the fresh fold goes on to just there, and only what
 * differs then is told.
 * @returns how many documents the live build has
 */
export async function compareModel(given: Omit<Comparing, 'aside' | 'part'>): Promise<number> {
  const { projection } = given.fresh
  const aside = await tellSetAside(given)
  const documents = await comparePart({ ...given, aside, part: documentsOf(projection.declaration) })
  if (isNumbered(projection)) await comparePart({ ...given, aside, part: sequencesOf(projection.declaration) })
  return documents
}

/** @returns how many the live build has */
async function comparePart(comparing: Comparing): Promise<number> {
  const { part } = comparing
  const [live, fresh] = [part.of(comparing.live), part.of(comparing.fresh.build)]
  let documents = 0
  let doubtful: FieldValue[] = []
  const doubt = async (keys: readonly FieldValue[], least: number) => {
    doubtful.push(...keys)
    if (doubtful.length < least) return
    const again = doubtful
    doubtful = []
    for (let from = 0; from < again.length; from += TOGETHER) {
      await compareAgain(comparing, again.slice(from, from + TOGETHER))
    }
  }
  for await (const page of live.walk()) {
    documents += page.length
    const folded = byKey(await fresh.load(page.map(keyOf)))
    await doubt(
      page.filter((stored) => differenceOf(part, stored, folded.get(keyOf(stored))) !== undefined).map(keyOf),
      TOGETHER,
    )
  }
  for await (const page of fresh.walk([])) {
    const there = byKey(await live.load(page.map(keyOf), []))
    await doubt(
      page.map(keyOf).filter((key) => !there.has(key)),
      TOGETHER,
    )
  }
  await doubt([], 1)
  return documents
}

/** At one position: that of the live build as these documents were read. */
async function compareAgain(comparing: Comparing, keys: readonly FieldValue[]): Promise<void> {
  const { store, fresh, faulty, aside, found, part } = comparing
  const captured = await capture(comparing, keys)
  if (captured === undefined) {
    if (keys.length > 1) for (const key of keys) await compareAgain(comparing, [key])
    else tellUnsteady(comparing, keys)
    return
  }
  await fresh.foldTo(captured.position)
  const folded = byKey(await part.of(fresh.build).load(keys))
  for (const key of keys) {
    const [stored, wanted] = [captured.documents.get(key), folded.get(key)]
    const what = differenceOf(part, stored, wanted)
    if (what === undefined) continue
    const { name } = fresh.projection.declaration
    const event = await lastOf(store, wanted ?? stored)
    const streams = event === undefined ? [] : [...together(fresh.projection, [event.stream])]
    if (streams.some((stream) => aside.has(stream))) continue
    const where = event === undefined ? part.called(key) : `${event.stream}@${event.revision}`
    const remedy = streams.some((stream) => faulty.has(stream)) ? RESTORE : eitherIsWrong(name)
    found.add({ where, what: `${part.called(key)} ${what}`, do: remedy })
  }
}

/** Nothing tells here which of the two was changed. */
const eitherIsWrong = (name: string) =>
  `where the log is what was written, npx adamant rebuild ${name}; where an event was changed, npx adamant restore`

type Captured = { readonly position: From; readonly documents: ReadonlyMap<FieldValue, Stored> }

/** Documents, and how far the build was as they were read; undefined where they change too often to tell. */
async function capture({ live, fresh, part }: Comparing, keys: readonly FieldValue[]): Promise<Captured | undefined> {
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const position = await positionOf(live)
    const stored = await part.of(live).load(keys, undefined, 'acknowledged')
    // MongoDB has documents before the checkpoint: those are of a batch that is under way.
    const isSettled =
      comparePositions(fresh.position, position) <= 0 &&
      stored.every(({ revision }) => position !== 'start' && revision <= position.commit)
    if (isSettled && comparePositions(position, await positionOf(live)) === 0)
      return { position, documents: byKey(stored) }
    await pause(PAUSE)
  }
  return undefined
}

function tellUnsteady({ fresh, found, part }: Comparing, [key = '']: readonly FieldValue[]): void {
  const { name } = fresh.projection.declaration
  found.add({
    where: part.called(key),
    what: 'is newer than its model says, or changes too often to be compared',
    do: `run it again; where it stays, npx adamant rebuild ${name}`,
  })
}

/** How a live document differs from what the log folds to; undefined where it does not. */
function differenceOf(part: Part, stored: Stored | undefined, wanted: Stored | undefined): string | undefined {
  if (stored === undefined) return wanted && 'is missing'
  if (wanted === undefined) return 'is there, and the log knows of none'
  const names = part.differing(stored.document, wanted.document)
  return names.length === 0 ? undefined : `is not what the log says, in ${names.join(', ')}`
}

/** The event that a document was last changed by, where it is still there. */
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

const positionOf = async (build: Build): Promise<From> => (await build.checkpoint())?.position ?? 'start'
const keyOf = ({ document }: Stored): FieldValue => document['id'] ?? ''
const byKey = (stored: readonly Stored[]): ReadonlyMap<FieldValue, Stored> =>
  new Map(stored.map((one) => [keyOf(one), one]))
