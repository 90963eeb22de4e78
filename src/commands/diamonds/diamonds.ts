import {
  create,
  diamondDecider,
  diamondStream,
  owned,
  patch,
  remove,
  type Diamond,
  type DiamondCreated,
  type DiamondEvent,
} from '../../domain/diamond/diamond.ts'
import type { Change, NewDiamond } from '../../domain/diamond/fields.ts'
import { Refusal, type Fault } from '../../domain/decider.ts'
import { decode } from '../../events/decode.ts'
import type { Origin } from '../../events/origin.ts'
import type { Position, Revision } from '../../stores/ports/event-store.ts'
import { handleAll, type Answered, type DecidedAll } from '../bulk/handle-all.ts'
import { recordOf, type Keyed } from '../bulk/request.ts'
import { after, handle, type Writing } from '../core/handle.ts'
import type { IdBlocks } from '../installation/integer-ids.ts'

/** What commands on diamonds write with. */
export type Inventory = Writing & { readonly diamondIds: IdBlocks }

/** Whose diamonds may be changed, and who wants it. */
export type By = { readonly owner: number; readonly origin: Origin }

/** R of a diamond's ETag: the revision of its owner's last change. What was read of its reports since is none. */
function ownersRevision(diamond: Diamond, revision: Revision): bigint {
  const behind = diamond.status === 'live' ? BigInt(diamond.readingsBehind) : 0n
  return (revision === 'none' ? -1n : revision) - behind
}

export type CreateDiamonds = {
  readonly owner: number
  readonly entries: readonly NewDiamond[]
  readonly origin: Origin
  /** Where the caller sent an Idempotency-Key. */
  readonly key?: Omit<Keyed, 'owner'>
}

/** What each diamond was born with, in the order of the entries. */
type Births = { readonly created: readonly DiamondCreated[] }
export type CreatedDiamonds = Answered<Births>

/**
 * Creates diamonds, all or none. With a key, the same request again gives the first diamonds again.
 * @throws Refusal invalid when the key was used for another body; WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export function createDiamonds(
  inventory: Inventory,
  { owner, entries, origin, key }: CreateDiamonds,
): Promise<CreatedDiamonds> {
  const again = (diamonds: readonly number[], position: Position) => storedBirths(inventory, diamonds, position)
  return handleAll(inventory, {
    origin,
    ...(key !== undefined && { once: { ...recordOf({ ...key, owner }), again } }),
    decide: (now) => births(inventory, owner, entries, now),
  })
}

/** Decides on new diamonds. @param now milliseconds since 1970 */
export async function births(
  { diamondIds }: Inventory,
  owner: number,
  entries: readonly NewDiamond[],
  now: number,
): Promise<DecidedAll<Births>> {
  const ids = await diamondIds.takeMany(entries.length)
  const created = entries.map((fields, index) => create(ids[index] ?? 0, owner, fields, now))
  const decisions = created.map((event) => ({
    stream: diamondStream(event.data.id),
    expected: 'none' as const,
    at: 0,
    events: [event],
  }))
  return { decisions, told: { created } }
}

/** What diamonds that were created before were born with. */
async function storedBirths(
  { store }: Inventory,
  diamonds: readonly number[],
  position: Position,
): Promise<CreatedDiamonds> {
  const created: DiamondCreated[] = []
  for (const id of diamonds) {
    const [birth] = await store.read(diamondStream(id))
    if (birth !== undefined) created.push(decode<DiamondCreated>(birth))
  }
  return { created, position }
}

/** One diamond's change as a decision on its state. `pointer` names the entry in a bulk request's body. */
export type DiamondChange = {
  readonly id: number
  readonly pointer?: string
  readonly decide: (diamond: Diamond) => readonly DiamondEvent[]
}

/** A diamond as a change has left it. */
export type Changed = {
  readonly id: number
  /** R of its ETag `"R.S"`. */
  readonly revision: bigint
}

type ChangedAll = { readonly changed: readonly Changed[] }

/** `position` is where the last change stands, undefined when nothing had to change. */
export type ChangedDiamonds = ChangedAll & { readonly position: Position | undefined }

export function patchDiamond(id: number, change: Change, { owner }: By, pointer?: string): DiamondChange {
  return {
    id,
    decide: (diamond) => patch(diamond, id, owner, change),
    ...(pointer !== undefined && { pointer }),
  }
}

export function deleteDiamond(id: number, { owner }: By, pointer?: string): DiamondChange {
  return { id, decide: (diamond) => remove(diamond, id, owner), ...(pointer !== undefined && { pointer }) }
}

/** Revisions that the caller has seen, from If-Match; any, or `*` for whatever there is. */
export type Match = '*' | readonly bigint[]

/**
 * Changes one diamond.
 * @throws Refusal missing, forbidden, precondition
 */
export async function changeDiamond(
  writing: Writing,
  { owner, origin }: By,
  { id, decide }: DiamondChange,
  match?: Match,
): Promise<ChangedDiamonds> {
  const wish = { stream: diamondStream(id), origin }
  const { state, events, position, revision } = await handle(writing, wish, diamondDecider, (diamond, _now, found) => {
    owned(diamond, id, owner)
    checkMatch(match, diamond, found)
    return decide(diamond)
  })
  // What was written now is the owner's last change, whatever came after an earlier try of it.
  const left = events.length > 0 ? diamondDecider.initialState : state
  return { position, changed: [{ id, revision: ownersRevision(left, revision) }] }
}

function checkMatch(match: Match | undefined, diamond: Diamond, revision: Revision): void {
  if (match === undefined || match === '*') return
  if (!match.includes(ownersRevision(diamond, revision))) {
    throw new Refusal('precondition', 'The diamond has changed since it was read: If-Match does not hold')
  }
}

/**
 * Changes several diamonds, all or none.
 * @throws Refusal naming every diamond of another account and every unknown one, in their order: forbidden where there is
 *   one of the first kind, else missing
 */
export const changeDiamonds = (writing: Writing, by: By, changes: readonly DiamondChange[]): Promise<ChangedDiamonds> =>
  handleAll(writing, {
    origin: by.origin,
    diamonds: changes.map(({ id }) => id),
    decide: () => decideAll(writing, by, changes),
  })

/** A diamond that somebody names. `pointer` is where in a bulk request's body. */
type Named = Pick<DiamondChange, 'id' | 'pointer'>

/** What of these the owner may not touch, as a refusal of them would say it, in their order. */
export async function ownershipFaults(writing: Writing, owner: number, named: readonly Named[]): Promise<Fault[]> {
  const loaded = await loadAll(writing, named)
  return loaded.flatMap(({ id, pointer, state }) => {
    const refused = refusalOf(() => owned(state, id, owner))
    return refused === undefined ? [] : [faultAt(refused, pointer)]
  })
}

const loadAll = <One extends Named>({ store, states }: Writing, named: readonly One[]) =>
  Promise.all(
    named.map(async (one) => ({ ...one, ...(await states.load(store, diamondStream(one.id), diamondDecider)) })),
  )

const faultAt = ({ message }: Refusal, pointer: string | undefined): Fault => ({
  message,
  ...(pointer !== undefined && { pointer }),
})

/**
 * Decides on diamonds as they are now.
 * @throws Refusal as `changeDiamonds` does
 */
export async function decideAll(
  writing: Writing,
  { owner }: Pick<By, 'owner'>,
  changes: readonly DiamondChange[],
): Promise<DecidedAll<ChangedAll>> {
  const changed: Changed[] = []
  const faults: Fault[] = []
  const kinds = new Set<Refusal['kind']>()
  const decisions = (await loadAll(writing, changes)).map(({ id, pointer, decide, state, revision, at }) => {
    const refused = refusalOf(() => owned(state, id, owner))
    const events = refused === undefined ? decide(state) : []
    if (refused !== undefined) {
      kinds.add(refused.kind)
      faults.push(faultAt(refused, pointer))
    }
    const left = events.length > 0 ? after(revision, events.length) : ownersRevision(state, revision)
    changed.push({ id, revision: left })
    return { stream: diamondStream(id), expected: revision, at, events }
  })
  if (faults.length > 0) throw new Refusal(kinds.has('forbidden') ? 'forbidden' : 'missing', faults)
  return { decisions, told: { changed } }
}

function refusalOf(check: () => unknown): Refusal | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}
