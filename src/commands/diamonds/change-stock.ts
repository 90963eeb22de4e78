import type { NewDiamond } from '../../domain/diamond/fields.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import { handleBulk } from '../bulk/handle-bulk.ts'
import { canonicalDigest } from '../bulk/request-record.ts'
import {
  decideCreations,
  decideChanges,
  type CommandPrincipal,
  type DiamondChange,
  type DiamondCommandContext,
} from './diamonds.ts'

/** What is to become of a part of an account's stones, together. */
export type StockChange = {
  /** Says that it was done, and keeps it from being done twice, for good. */
  readonly record: string
  readonly creates: readonly NewDiamond[]
  readonly changes: readonly DiamondChange[]
}

/** How many stones were made and changed; the others of `changes` are as they were to be. */
export type StockChangeResult = {
  readonly created: number
  readonly changed: number
  readonly position: Position | undefined
}

/** It was done before, or by another process meanwhile. */
export class AlreadyApplied extends Error {
  override readonly name = 'DoneBefore'
}

/** The record of what is done once for good. */
export const permanentRecordOf = (stream: string) => ({
  stream,
  body: canonicalDigest(stream),
  replay: () => Promise.reject(new AlreadyApplied(`${stream} says that this was done`)),
})

/**
 * Creates and changes diamonds, all or none, and keeps a record of it in the same write. Where nothing has to be done there
 * is none.
 * @throws Refusal for a diamond that is not there any more; DoneBefore, WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export const changeStock = (
  context: DiamondCommandContext,
  principal: CommandPrincipal,
  { record, creates, changes }: StockChange,
): Promise<StockChangeResult> =>
  handleBulk(context, {
    origin: principal.origin,
    diamonds: changes.map(({ id }) => id),
    once: permanentRecordOf(record),
    async decide(now) {
      const changed = (await decideChanges(context, principal, changes)).decisions.filter(
        ({ events }) => events.length > 0,
      )
      const born = (await decideCreations(context, principal.owner, creates, now)).decisions
      return { decisions: [...born, ...changed], result: { created: born.length, changed: changed.length } }
    },
  })
