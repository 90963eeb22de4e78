import type { NewDiamond } from '../../domain/diamond/fields.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import { handleAll } from '../bulk/handle-all.ts'
import { digestOf } from '../bulk/request.ts'
import { births, decideAll, type By, type DiamondChange, type Inventory } from './diamonds.ts'

/** What is to become of a part of an account's stones, together. */
export type StockChange = {
  /** Says that it was done, and keeps it from being done twice, for good. */
  readonly record: string
  readonly creates: readonly NewDiamond[]
  readonly changes: readonly DiamondChange[]
}

/** How many stones were made and changed; the others of `changes` are as they were to be. */
export type StockChanged = {
  readonly created: number
  readonly changed: number
  readonly position: Position | undefined
}

/** It was done before, or by another process meanwhile. */
export class DoneBefore extends Error {
  override readonly name = 'DoneBefore'
}

/** The record of what is done once for good. */
export const onceForGood = (stream: string) => ({
  stream,
  body: digestOf(stream),
  again: () => Promise.reject(new DoneBefore(`${stream} says that this was done`)),
})

/**
 * Creates and changes diamonds, all or none, and keeps a record of it in the same write. Where nothing has to be done there
 * is none.
 * @throws Refusal for a diamond that is not there any more; DoneBefore, WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export const changeStock = (
  inventory: Inventory,
  by: By,
  { record, creates, changes }: StockChange,
): Promise<StockChanged> =>
  handleAll(inventory, {
    origin: by.origin,
    diamonds: changes.map(({ id }) => id),
    once: onceForGood(record),
    async decide(now) {
      const changed = (await decideAll(inventory, by, changes)).decisions.filter(({ events }) => events.length > 0)
      const born = (await births(inventory, by.owner, creates, now)).decisions
      return { decisions: [...born, ...changed], told: { created: born.length, changed: changed.length } }
    },
  })
