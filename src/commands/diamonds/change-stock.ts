import type { NewDiamond } from '../../domain/diamond/fields.ts'
import { diamondStream } from '../../domain/diamond/streams.ts'
import { WrongRevision, type Append, type Position } from '../../stores/ports/event-store.ts'
import { digestOf } from '../bulk/bulk.ts'
import { carryOut } from '../bulk/carry-out.ts'
import { tries } from '../core/tries.ts'
import { births } from './create-diamonds.ts'
import { decideAll } from './change-diamonds.ts'
import type { By, DiamondChange, Inventory } from './diamonds.ts'

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

/** Only another process can come between loading and appending: rare and short. */
const ATTEMPTS = 5

/**
 * Creates and changes diamonds, all or none, and keeps a record of it in the same write. Where nothing has to be done there
 * is none.
 * @throws Refusal for a diamond that is not there any more; WrongRevision of the record where this was done before;
 *   OutcomeUnknown, StoreUnavailable
 */
export async function changeStock(
  inventory: Inventory,
  { owner, origin }: By,
  { record, creates, changes }: StockChange,
): Promise<StockChanged> {
  const born = await births(inventory, { owner, entries: creates, origin })
  const streams = changes.map(({ id }) => diamondStream(id))
  return inventory.queue.runAll(streams, async () => {
    const isTriedAgain = tries(ATTEMPTS)
    for (;;) {
      const { appends: changed, metadata } = await decideAll(inventory, { owner, origin }, changes)
      const counts = { created: born.appends.length, changed: changed.length }
      const appends = [...born.appends, ...changed]
      if (appends.length === 0) return { ...counts, position: undefined }
      for (const { stream } of changed) inventory.states.forget(stream)
      const bulk = { stream: record, expected: 'none' as const, body: digestOf(record), appends, metadata }
      try {
        return { ...counts, position: await carryOut(inventory, { ...bulk, diamonds: appends.map(idOf) }) }
      } catch (error) {
        if (!(error instanceof WrongRevision) || error.stream === record || !isTriedAgain(error)) throw error
      }
    }
  })
}

const idOf = ({ stream }: Append) => Number(stream.slice(diamondStream(0).length - 1))
