import { randomUUID } from 'node:crypto'
import { create } from '../../domain/diamond/decide.ts'
import type { DiamondCreated } from '../../domain/diamond/diamond.ts'
import type { NewDiamond } from '../../domain/diamond/fields.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import { answerOnce, type Answered, type Keyed } from '../bulk/idempotency.ts'
import { appendTogether, type Together } from '../bulk/carry-out.ts'
import { diamondStream } from '../../domain/diamond/streams.ts'
import type { Inventory } from './diamonds.ts'
import { metadata, type Origin } from '../../events/origin.ts'
import { decode } from '../../events/decode.ts'
import { versioned } from '../core/stamp.ts'

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
export function createDiamonds(inventory: Inventory, wish: CreateDiamonds): Promise<CreatedDiamonds> {
  return inventory.outcomes.of(diamondStream(0), () => createNow(inventory, wish))
}

async function createNow(inventory: Inventory, wish: CreateDiamonds): Promise<CreatedDiamonds> {
  const make = () => births(inventory, wish)
  if (wish.key !== undefined) {
    return answerOnce(inventory, { ...wish.key, owner: wish.owner }, { make, again: storedBirths(inventory) })
  }
  const made = await make()
  return { created: made.created, position: await appendTogether(inventory, made) }
}

/** What creates diamonds, to be appended. */
export async function births(
  { diamondIds, clock }: Inventory,
  { owner, entries, origin }: CreateDiamonds,
): Promise<Together & Births> {
  const now = clock()
  const meta = metadata(origin, now)
  const ids = await diamondIds.takeMany(entries.length)
  const created = entries.map((fields, index) => create(ids[index] ?? 0, owner, fields, now))
  const appends = created.map(({ type, data }) => ({
    stream: diamondStream(data.id),
    expected: 'none' as const,
    events: [{ id: randomUUID(), type, data, metadata: versioned(meta, type) }],
  }))
  return { created, diamonds: ids, appends, metadata: meta }
}

/** What diamonds that were created before were born with. */
const storedBirths =
  ({ store }: Inventory) =>
  async (diamonds: readonly number[], position: Position): Promise<CreatedDiamonds> => {
    const created: DiamondCreated[] = []
    for (const id of diamonds) {
      const [birth] = await store.read(diamondStream(id))
      if (birth !== undefined) created.push(decode<DiamondCreated>(birth))
    }
    return { created, position }
  }
