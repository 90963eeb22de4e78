import {
  create,
  diamondDecider,
  diamondStream,
  requireOwnedDiamond,
  patch,
  remove,
  type Diamond,
  type DiamondCreated,
  type DiamondEvent,
} from '../../domain/diamond/diamond.ts'
import type { DiamondFieldChanges, NewDiamond } from '../../domain/diamond/fields.ts'
import { RequestError, type ErrorDetail } from '../../domain/decider.ts'
import { decode } from '../../events/decode.ts'
import type { Origin } from '../../events/event-metadata.ts'
import type { Position, Revision } from '../../stores/ports/event-store.ts'
import { handleBulk, type BulkResult, type BulkDecision } from '../bulk/handle-bulk.ts'
import { requestRecordOf, type KeyedRequest } from '../bulk/request-record.ts'
import { revisionAfter, handle, type CommandContext } from '../core/handle.ts'
import type { IdAllocator } from '../installation/id-allocator.ts'

/** What commands on diamonds write with. */
export type DiamondCommandContext = CommandContext & { readonly diamondIds: IdAllocator }

/** Whose diamonds may be changed, and who wants it. */
export type CommandPrincipal = { readonly owner: number; readonly origin: Origin }

/** R of a diamond's ETag: the revision of its owner's last change. What was read of its reports since is none. */
function ownerRevisionOf(diamond: Diamond, revision: Revision): bigint {
  const behind = diamond.status === 'live' ? BigInt(diamond.readingsBehind) : 0n
  return (revision === 'none' ? -1n : revision) - behind
}

export type CreateDiamonds = {
  readonly owner: number
  readonly entries: readonly NewDiamond[]
  readonly origin: Origin
  /** Where the caller sent an Idempotency-Key. */
  readonly key?: Omit<KeyedRequest, 'owner'>
}

/** What each diamond was born with, in the order of the entries. */
type CreatedDiamondList = { readonly created: readonly DiamondCreated[] }
export type CreatedDiamonds = BulkResult<CreatedDiamondList>

/**
 * Creates diamonds, all or none. With a key, the same request again gives the first diamonds again.
 * @throws Refusal invalid when the key was used for another body; WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export function createDiamonds(
  context: DiamondCommandContext,
  { owner, entries, origin, key }: CreateDiamonds,
): Promise<CreatedDiamonds> {
  const replay = (diamonds: readonly number[], position: Position) => readCreatedDiamonds(context, diamonds, position)
  return handleBulk(context, {
    origin,
    ...(key !== undefined && { once: { ...requestRecordOf({ ...key, owner }), replay } }),
    decide: (now) => decideCreations(context, owner, entries, now),
  })
}

/** Decides on new diamonds. @param now milliseconds since 1970 */
export async function decideCreations(
  { diamondIds }: DiamondCommandContext,
  owner: number,
  entries: readonly NewDiamond[],
  now: number,
): Promise<BulkDecision<CreatedDiamondList>> {
  const ids = await diamondIds.takeMany(entries.length)
  const created = entries.map((fields, index) => create(ids[index] ?? 0, owner, fields, now))
  const decisions = created.map((event) => ({
    stream: diamondStream(event.data.id),
    expected: 'none' as const,
    at: 0,
    events: [event],
  }))
  return { decisions, result: { created } }
}

/** What diamonds that were created before were born with. */
async function readCreatedDiamonds(
  { store }: DiamondCommandContext,
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
export type ChangedDiamond = {
  readonly id: number
  /** R of its ETag `"R.S"`. */
  readonly revision: bigint
}

type ChangedDiamondList = { readonly changed: readonly ChangedDiamond[] }

/** `position` is where the last change stands, undefined when nothing had to change. */
export type ChangedDiamonds = ChangedDiamondList & { readonly position: Position | undefined }

export function planPatch(
  id: number,
  change: DiamondFieldChanges,
  { owner }: CommandPrincipal,
  pointer?: string,
): DiamondChange {
  return {
    id,
    decide: (diamond) => patch(diamond, id, owner, change),
    ...(pointer !== undefined && { pointer }),
  }
}

export function planDelete(id: number, { owner }: CommandPrincipal, pointer?: string): DiamondChange {
  return { id, decide: (diamond) => remove(diamond, id, owner), ...(pointer !== undefined && { pointer }) }
}

/** Revisions that the caller has seen, from If-Match; any, or `*` for whatever there is. */
export type IfMatchRevisions = '*' | readonly bigint[]

/**
 * Changes one diamond.
 * @throws Refusal missing, forbidden, precondition
 */
export async function changeDiamond(
  context: CommandContext,
  { owner, origin }: CommandPrincipal,
  { id, decide }: DiamondChange,
  match?: IfMatchRevisions,
): Promise<ChangedDiamonds> {
  const target = { stream: diamondStream(id), origin }
  const { state, events, position, revision } = await handle(
    context,
    target,
    diamondDecider,
    (diamond, _now, found) => {
      requireOwnedDiamond(diamond, id, owner)
      checkIfMatch(match, diamond, found)
      return decide(diamond)
    },
  )
  // What was written now is the owner's last change, whatever came after an earlier try of it.
  const left = events.length > 0 ? diamondDecider.initialState : state
  return { position, changed: [{ id, revision: ownerRevisionOf(left, revision) }] }
}

function checkIfMatch(match: IfMatchRevisions | undefined, diamond: Diamond, revision: Revision): void {
  if (match === undefined || match === '*') return
  if (!match.includes(ownerRevisionOf(diamond, revision))) {
    throw new RequestError('precondition', 'The diamond has changed since it was read: If-Match does not hold')
  }
}

/**
 * Changes several diamonds, all or none.
 * @throws Refusal naming every diamond of another account and every unknown one, in their order: forbidden where there is
 *   one of the first kind, else missing
 */
export const changeDiamonds = (
  context: CommandContext,
  principal: CommandPrincipal,
  changes: readonly DiamondChange[],
): Promise<ChangedDiamonds> =>
  handleBulk(context, {
    origin: principal.origin,
    diamonds: changes.map(({ id }) => id),
    decide: () => decideChanges(context, principal, changes),
  })

/** A diamond that somebody names. `pointer` is where in a bulk request's body. */
type DiamondReference = Pick<DiamondChange, 'id' | 'pointer'>

/** What of these the owner may not touch, as a refusal of them would say it, in their order. */
export async function ownershipFaults(
  context: CommandContext,
  owner: number,
  named: readonly DiamondReference[],
): Promise<ErrorDetail[]> {
  const loaded = await loadDiamonds(context, named)
  return loaded.flatMap(({ id, pointer, state }) => {
    const refused = catchRefusal(() => requireOwnedDiamond(state, id, owner))
    return refused === undefined ? [] : [faultAt(refused, pointer)]
  })
}

const loadDiamonds = <One extends DiamondReference>({ store, stateCache }: CommandContext, named: readonly One[]) =>
  Promise.all(
    named.map(async (one) => ({ ...one, ...(await stateCache.load(store, diamondStream(one.id), diamondDecider)) })),
  )

const faultAt = ({ message }: RequestError, pointer: string | undefined): ErrorDetail => ({
  message,
  ...(pointer !== undefined && { pointer }),
})

/**
 * Decides on diamonds as they are now.
 * @throws Refusal as `changeDiamonds` does
 */
export async function decideChanges(
  context: CommandContext,
  { owner }: Pick<CommandPrincipal, 'owner'>,
  changes: readonly DiamondChange[],
): Promise<BulkDecision<ChangedDiamondList>> {
  const changed: ChangedDiamond[] = []
  const faults: ErrorDetail[] = []
  const kinds = new Set<RequestError['kind']>()
  const decisions = (await loadDiamonds(context, changes)).map(
    ({ id, pointer, decide, state, revision, lastEventAt }) => {
      const refused = catchRefusal(() => requireOwnedDiamond(state, id, owner))
      const events = refused === undefined ? decide(state) : []
      if (refused !== undefined) {
        kinds.add(refused.kind)
        faults.push(faultAt(refused, pointer))
      }
      const left = events.length > 0 ? revisionAfter(revision, events.length) : ownerRevisionOf(state, revision)
      changed.push({ id, revision: left })
      return { stream: diamondStream(id), expected: revision, at: lastEventAt, events }
    },
  )
  if (faults.length > 0) throw new RequestError(kinds.has('forbidden') ? 'forbidden' : 'missing', faults)
  return { decisions, result: { changed } }
}

function catchRefusal(check: () => unknown): RequestError | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof RequestError) return error
    throw error
  }
}
