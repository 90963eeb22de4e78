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

type StockChange = {
  /** The stream of a permanent record that keeps the change from being applied twice. */
  readonly record: string
  readonly creates: readonly NewDiamond[]
  readonly changes: readonly DiamondChange[]
}

/** `changed` counts only diamonds that differ from before. */
type StockChangeResult = {
  readonly created: number
  readonly changed: number
  readonly position: Position | undefined
}

/** The change was applied before, or concurrently by another process. */
export class AlreadyApplied extends Error {
  override readonly name = 'AlreadyApplied'
}

/** A record that never expires. */
export const permanentRecordOf = (stream: string) => ({
  stream,
  body: canonicalDigest(stream),
  replay: () => Promise.reject(new AlreadyApplied(`${stream} has a record: this change was already applied`)),
})

/**
 * Creates and changes diamonds, all or none, and stores a record in the same append, unless there is nothing to append.
 * @throws RequestError if a diamond no longer exists; AlreadyApplied, WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export const changeStock = (
  context: DiamondCommandContext,
  principal: CommandPrincipal,
  { record, creates, changes }: StockChange,
): Promise<StockChangeResult> =>
  handleBulk(context, {
    origin: principal.origin,
    diamonds: changes.map(({ id }) => id),
    idempotency: permanentRecordOf(record),
    async decide(now) {
      const changeDecisions = (await decideChanges(context, principal, changes)).decisions.filter(
        ({ events }) => events.length > 0,
      )
      const creationDecisions = (await decideCreations(context, principal.owner, creates, now)).decisions
      return {
        decisions: [...creationDecisions, ...changeDecisions],
        result: { created: creationDecisions.length, changed: changeDecisions.length },
      }
    },
  })
