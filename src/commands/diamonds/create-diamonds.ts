import { randomUUID } from 'node:crypto'
import { create } from '../../domain/diamond/decide.ts'
import type { DiamondCreated } from '../../domain/diamond/diamond.ts'
import type { NewDiamond } from '../../domain/diamond/fields.ts'
import type { Append, NewEvent, Position } from '../../stores/ports/event-store.ts'
import { answerOnce, type RequestKey } from '../bulk/answer-once.ts'
import { appendTogether } from '../bulk/carry-out.ts'
import { diamondStream } from '../../domain/diamond/streams.ts'
import type { Inventory } from './inventory.ts'
import { metadata, type Origin } from '../../events/origin.ts'
import { versioned } from '../core/stamp.ts'

export type CreateDiamonds = {
  readonly owner: number
  readonly entries: readonly NewDiamond[]
  readonly origin: Origin
  /** Where the caller sent an Idempotency-Key. */
  readonly key?: RequestKey
}

export type CreatedDiamonds = {
  /** What each diamond was born with, in the order of the entries. */
  readonly created: readonly DiamondCreated[]
  readonly position: Position | undefined
}

/**
 * Creates diamonds, all or none. With a key, the same request again gives the first diamonds again.
 * @throws Refusal invalid when the key was used for another body; WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export async function createDiamonds(inventory: Inventory, wish: CreateDiamonds): Promise<CreatedDiamonds> {
  if (wish.key !== undefined) return answerOnce(inventory, wish, wish.key, () => births(inventory, wish))
  const { created, appends, metadata } = await births(inventory, wish)
  const diamonds = created.map((event) => event.data.id)
  return { created, position: await appendTogether(inventory, randomUUID(), { diamonds, appends, metadata }) }
}

export type Births = {
  readonly created: readonly DiamondCreated[]
  readonly appends: readonly Append[]
  /** Of every event, but for the version of its payload. */
  readonly metadata: NewEvent['metadata']
}

async function births({ diamondIds, clock }: Inventory, { owner, entries, origin }: CreateDiamonds): Promise<Births> {
  const now = clock()
  const meta = metadata(origin, now)
  const ids = await diamondIds.takeMany(entries.length)
  const created = entries.map((fields, index) => create(ids[index] ?? 0, owner, fields, now))
  const appends = created.map(({ type, data }) => ({
    stream: diamondStream(data.id),
    expected: 'none' as const,
    events: [{ id: randomUUID(), type, data, metadata: versioned(meta, type) }],
  }))
  return { created, appends, metadata: meta }
}
