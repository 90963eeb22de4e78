import { create, diamondStream, type DiamondCreated } from '../../domain/diamond/diamond.ts'
import type { NewDiamond } from '../../domain/diamond/fields.ts'
import { decode } from '../../events/decode.ts'
import type { Origin } from '../../events/origin.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import { handleAll, type Answered, type DecidedAll } from '../bulk/handle-all.ts'
import { recordOf, type Keyed } from '../bulk/request.ts'
import type { Inventory } from './diamonds.ts'

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
