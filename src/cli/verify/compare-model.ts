import { setTimeout as pause } from 'node:timers/promises'
import { differingIn } from '../../projections/engine/same-document.ts'
import { together } from '../../projections/engine/refold.ts'
import {
  comparePositions,
  DamagedEvent,
  type EventStore,
  type From,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import type { Build, FieldValue, Stored } from '../../stores/ports/read-store.ts'
import type { Differences } from './differences.ts'
import type { FreshModel } from './fresh-model.ts'
import { tellSetAside } from './set-aside.ts'
import { RESTORE } from './stream-rules.ts'

/** A live build beside what the log folds to. */
export type Comparing = {
  readonly store: Pick<EventStore, 'eventAt'>
  readonly live: Build
  readonly fresh: FreshModel
  /** Streams of which something is wrong in the log itself. */
  readonly faulty: ReadonlySet<string>
  readonly found: Differences
  /** Streams that are set aside: what is made of them was told of, and is as old as that. */
  readonly aside: ReadonlySet<string>
}

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
export async function compareModel(given: Omit<Comparing, 'aside'>): Promise<number> {
  const { live, fresh } = given
  const comparing = { ...given, aside: await tellSetAside(given) }
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
    const folded = byKey(await fresh.build.load(page.map(keyOf)))
    await doubt(
      page.filter((stored) => differenceOf(fresh, stored, folded.get(keyOf(stored))) !== undefined).map(keyOf),
      TOGETHER,
    )
  }
  for await (const page of fresh.build.walk([])) {
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
  const { store, fresh, faulty, aside, found } = comparing
  const captured = await capture(comparing, keys)
  if (captured === undefined) {
    if (keys.length > 1) for (const key of keys) await compareAgain(comparing, [key])
    else tellUnsteady(comparing, keys)
    return
  }
  await fresh.foldTo(captured.position)
  const folded = byKey(await fresh.build.load(keys))
  for (const key of keys) {
    const [stored, wanted] = [captured.documents.get(key), folded.get(key)]
    const what = differenceOf(fresh, stored, wanted)
    if (what === undefined) continue
    const { name } = fresh.projection.declaration
    const event = await lastOf(store, wanted ?? stored)
    const streams = event === undefined ? [] : [...together(fresh.projection, [event.stream])]
    if (streams.some((stream) => aside.has(stream))) continue
    const where = event === undefined ? `document ${key} of ${name}` : `${event.stream}@${event.revision}`
    const remedy = streams.some((stream) => faulty.has(stream)) ? RESTORE : eitherIsWrong(name)
    found.add({ where, what: `document ${key} of ${name} ${what}`, do: remedy })
  }
}

/** Nothing tells here which of the two was changed. */
const eitherIsWrong = (name: string) =>
  `where the log is what was written, npx adamant rebuild ${name}; where an event was changed, npx adamant restore`

type Captured = { readonly position: From; readonly documents: ReadonlyMap<FieldValue, Stored> }

/** Documents, and how far the build was as they were read; undefined where they change too often to tell. */
async function capture({ live, fresh }: Comparing, keys: readonly FieldValue[]): Promise<Captured | undefined> {
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const position = await positionOf(live)
    const stored = await live.load(keys, undefined, 'acknowledged')
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

function tellUnsteady({ fresh, found }: Comparing, [key]: readonly FieldValue[]): void {
  const { name } = fresh.projection.declaration
  found.add({
    where: `document ${key} of ${name}`,
    what: 'is newer than its model says, or changes too often to be compared',
    do: `run it again; where it stays, npx adamant rebuild ${name}`,
  })
}

/** How a live document differs from what the log folds to; undefined where it does not. */
function differenceOf(
  { projection }: FreshModel,
  stored: Stored | undefined,
  wanted: Stored | undefined,
): string | undefined {
  if (stored === undefined) return wanted && 'is missing'
  if (wanted === undefined) return 'is there, and the log knows of none'
  const names = differingIn(projection, stored.document, wanted.document)
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
