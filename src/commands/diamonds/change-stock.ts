import { certificationAttachedEvent, certificationRemovedEvent } from '../../domain/certification/certification.ts'
import { replacementOf, type NewStone, type StoneUpdate } from '../../domain/certification/stated-report.ts'
import { patch, requireOwnedDiamond, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import { handleBulk, type DiamondDecision } from '../bulk/handle-bulk.ts'
import { canonicalDigest } from '../bulk/request-record.ts'
import type { IdAllocator } from '../installation/id-allocator.ts'
import {
  decideCreations,
  decideExistingChanges,
  type CommandPrincipal,
  type DiamondCommandContext,
  type EventualDiamondChange,
} from './diamonds.ts'

export type StockCommandContext = DiamondCommandContext & { readonly certificationIds: IdAllocator }

type StockChange = {
  /** The stream of a permanent record that keeps the change from being applied twice. */
  readonly record: string
  readonly creates: readonly NewStone[]
  readonly changes: readonly EventualDiamondChange[]
  /** What to create in place of a stone that no longer exists; such a stone is left out by default. */
  readonly recreate?: (id: number) => NewStone | undefined
}

/** `changed` counts only diamonds that differ from before, `certifications` those that were attached. */
type StockChangeResult = {
  readonly created: number
  readonly changed: number
  readonly certifications: number
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
 * @throws RequestError if a diamond belongs to another account; AlreadyApplied, WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export const changeStock = (
  context: StockCommandContext,
  principal: CommandPrincipal,
  { record, creates, changes, recreate = () => undefined }: StockChange,
): Promise<StockChangeResult> =>
  handleBulk(context, {
    origin: principal.origin,
    diamonds: changes.map(({ id }) => id),
    idempotency: permanentRecordOf(record),
    async decide(now) {
      const { decisions: allDecisions, missing } = await decideExistingChanges(context, principal, changes)
      const changeDecisions = allDecisions.filter(({ events }) => events.length > 0)
      const recreated = missing.map(recreate).filter((stone) => stone !== undefined)
      const creationDecisions = await decideNewStones(context, principal.owner, [...creates, ...recreated], now)
      const decisions = [...creationDecisions, ...changeDecisions]
      const certifications = countAttached(decisions)
      return {
        decisions,
        result: { created: creationDecisions.length, changed: changeDecisions.length, certifications },
      }
    },
  })

/** @param now milliseconds since 1970 */
export async function decideNewStones(
  context: StockCommandContext,
  owner: number,
  stones: readonly NewStone[],
  now: number,
): Promise<readonly DiamondDecision[]> {
  const fields = stones.map((stone) => stone.fields)
  const { decisions } = await decideCreations(context, owner, fields, now)
  const ids = await context.certificationIds.takeMany(stones.reduce((count, { reports }) => count + reports.length, 0))
  return decisions.map((decision, index) => {
    const attachedEvents = (stones[index]?.reports ?? []).map((report) =>
      certificationAttachedEvent(ids.shift() ?? 0, report),
    )
    return { ...decision, events: [...decision.events, ...attachedEvents] }
  })
}

/** @param takeCertificationId called only if the report is new to the diamond */
export const planUpdate = (
  { id, change, report }: StoneUpdate,
  { owner }: Pick<CommandPrincipal, 'owner'>,
  takeCertificationId: () => Promise<number>,
): EventualDiamondChange => ({
  id,
  async decide(diamond): Promise<readonly DiamondEvent[]> {
    const changes = patch(diamond, id, owner, change)
    if (report === undefined) return changes
    const { removed, isAttached } = replacementOf(requireOwnedDiamond(diamond, id, owner).certifications, report)
    const attachedEvents =
      isAttached && report !== null ? [certificationAttachedEvent(await takeCertificationId(), report)] : []
    return [...changes, ...removed.map(certificationRemovedEvent), ...attachedEvents]
  },
})

export const countAttached = (decisions: readonly DiamondDecision[]): number =>
  decisions.reduce(
    (count, { events }) => count + events.filter(({ type }) => type === 'CertificationAttached').length,
    0,
  )
