import {
  create,
  diamondFold,
  diamondStream,
  requireOwnedDiamond,
  patch,
  remove,
  type Diamond,
  type DiamondCreated,
  type DiamondEvent,
} from '../../domain/diamond/diamond.ts'
import type { DiamondFieldChanges, NewDiamond } from '../../domain/diamond/fields.ts'
import { RequestError, type ErrorDetail } from '../../domain/request-error.ts'
import { decode } from '../../events/decode.ts'
import type { Origin } from '../../events/event-metadata.ts'
import { WrongRevision, type Position, type Revision } from '../../stores/ports/event-store.ts'
import { handleBulk, type BulkResult, type BulkDecision, type DiamondDecision } from '../bulk/handle-bulk.ts'
import { requestRecordOf, type KeyedRequest } from '../bulk/request-record.ts'
import { revisionAfter } from '../core/append.ts'
import { handle } from '../core/handle.ts'
import type { CommandContext } from '../core/command-context.ts'
import type { IdAllocator } from '../installation/id-allocator.ts'

export type DiamondCommandContext = CommandContext & { readonly diamondIds: IdAllocator }

/** The account whose diamonds may be changed, and the origin of the command. */
export type CommandPrincipal = { readonly owner: number; readonly origin: Origin }

/**
 * `R` of a diamond's ETag: the revision of the owner's last change. Events with report readings since then do not
 * count.
 */
function ownerRevisionOf(diamond: Diamond, revision: Revision): bigint {
  const serviceEventCount = diamond.status === 'live' ? BigInt(diamond.serviceEventsSinceOwnerChange) : 0n
  return (revision === 'none' ? -1n : revision) - serviceEventCount
}

type CreateDiamonds = {
  readonly owner: number
  readonly entries: readonly NewDiamond[]
  readonly origin: Origin
  readonly key?: Omit<KeyedRequest, 'owner'>
}

/** In the order of the entries. */
type CreatedDiamondList = { readonly created: readonly DiamondCreated[] }
type CreatedDiamonds = BulkResult<CreatedDiamondList>

/**
 * Creates diamonds, all or none. A repeated request with the same key returns the first diamonds.
 * @throws RequestError 'invalid' if the key was used with a different body; WrongRevision, OutcomeUnknown,
 *   StoreUnavailable
 */
export function createDiamonds(context: DiamondCommandContext, command: CreateDiamonds): Promise<CreatedDiamonds> {
  const { owner, entries, origin, key } = command
  const [first] = entries
  if (first !== undefined && entries.length === 1 && key === undefined)
    return createDiamond(context, owner, first, origin)
  const replay = (diamonds: readonly number[], position: Position) => readCreatedDiamonds(context, diamonds, position)
  return handleBulk(context, {
    origin,
    ...(key !== undefined && { idempotency: { ...requestRecordOf({ ...key, owner }), replay } }),
    decide: (now) => decideCreations(context, owner, entries, now),
  })
}

async function createDiamond(
  context: DiamondCommandContext,
  owner: number,
  fields: NewDiamond,
  origin: Origin,
): Promise<CreatedDiamonds> {
  const id = await context.diamondIds.take()
  const stream = diamondStream(id)
  const { events, position } = await handle(
    context,
    { stream, isNew: true, origin },
    diamondFold,
    (_diamond, now, revision): readonly DiamondCreated[] => {
      if (revision !== 'none') throw new WrongRevision(stream, 'none', revision)
      return [create(id, owner, fields, now)]
    },
  )
  return { created: events, position }
}

/** @param now milliseconds since 1970 */
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
    lastEventAt: 0,
    events: [event],
  }))
  return { decisions, result: { created } }
}

async function readCreatedDiamonds(
  { store }: DiamondCommandContext,
  diamonds: readonly number[],
  position: Position,
): Promise<CreatedDiamonds> {
  const created: DiamondCreated[] = []
  for (const id of diamonds) {
    const [createdEvent] = await store.readStream(diamondStream(id))
    if (createdEvent !== undefined) created.push(decode<DiamondCreated>(createdEvent))
  }
  return { created, position }
}

/** A change to one diamond. `pointer` is the JSON Pointer to its entry in a bulk request's body. */
export type DiamondChange = {
  readonly id: number
  readonly pointer?: string
  readonly decide: (diamond: Diamond) => readonly DiamondEvent[]
}

/** A change whose decision may have to wait for an id, for example. */
export type EventualDiamondChange = Omit<DiamondChange, 'decide'> & {
  readonly decide: (diamond: Diamond) => readonly DiamondEvent[] | Promise<readonly DiamondEvent[]>
}

type ChangedDiamond = {
  readonly id: number
  /** `R` of its ETag `"R.S"`. */
  readonly revision: bigint
}

type ChangedDiamondList = { readonly changed: readonly ChangedDiamond[] }

/** `position` is that of the last change; undefined if nothing changed. */
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

/** Revisions from If-Match. `*` matches any revision. */
export type IfMatchRevisions = '*' | readonly bigint[]

/** @throws RequestError 'missing', 'forbidden', 'precondition' */
export async function changeDiamond(
  context: CommandContext,
  { owner, origin }: CommandPrincipal,
  { id, decide }: DiamondChange,
  ifMatch?: IfMatchRevisions,
): Promise<ChangedDiamonds> {
  const target = { stream: diamondStream(id), origin }
  const { state, events, position, revision } = await handle(
    context,
    target,
    diamondFold,
    (diamond, _now, currentRevision) => {
      requireOwnedDiamond(diamond, id, owner)
      checkIfMatch(ifMatch, diamond, currentRevision)
      return decide(diamond)
    },
  )
  // The revision of appended events is the owner's latest change; no later report readings are subtracted from it.
  const revisionBasis = events.length > 0 ? diamondFold.initialState : state
  return { position, changed: [{ id, revision: ownerRevisionOf(revisionBasis, revision) }] }
}

function checkIfMatch(ifMatch: IfMatchRevisions | undefined, diamond: Diamond, revision: Revision): void {
  if (ifMatch === undefined || ifMatch === '*') return
  if (!ifMatch.includes(ownerRevisionOf(diamond, revision))) {
    throw new RequestError(
      'precondition',
      'The diamond has changed since it was read: If-Match does not match its current ETag',
    )
  }
}

/**
 * Changes several diamonds, all or none.
 * @throws RequestError with details on every diamond that is unknown or belongs to another account, in their order;
 *   'forbidden' if there is one of another account, else 'missing'
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

type DiamondReference = Pick<DiamondChange, 'id' | 'pointer'>

/** One error detail for each diamond that is unknown or belongs to another account, in their order. */
export async function ownershipFaults(
  context: CommandContext,
  owner: number,
  references: readonly DiamondReference[],
): Promise<ErrorDetail[]> {
  const loaded = await loadDiamonds(context, references)
  return loaded.flatMap(({ id, pointer, state }) => {
    const refusal = catchRefusal(() => requireOwnedDiamond(state, id, owner))
    return refusal === undefined ? [] : [faultAt(refusal, pointer)]
  })
}

const loadDiamonds = <One extends DiamondReference>(
  { store, stateCache }: CommandContext,
  references: readonly One[],
) =>
  Promise.all(
    references.map(async (reference) => ({
      ...reference,
      ...(await stateCache.load(store, diamondStream(reference.id), diamondFold)),
    })),
  )

const faultAt = ({ message, kind }: RequestError, pointer: string | undefined): ErrorDetail =>
  pointer === undefined ? { message } : { message, pointer, code: kind === 'forbidden' ? 'forbidden' : 'not_found' }

/**
 * Decides on the current state of the diamonds.
 * @throws RequestError as `changeDiamonds` does
 */
export async function decideChanges(
  context: CommandContext,
  principal: Pick<CommandPrincipal, 'owner'>,
  changes: readonly EventualDiamondChange[],
): Promise<BulkDecision<ChangedDiamondList>> {
  const { missing: _, ...decision } = await decideExistingChanges(context, principal, changes, false)
  return decision
}

/**
 * Like `decideChanges`, without the diamonds that do not exist.
 * @param skipsMissing false to refuse them
 * @returns also the ids of those
 */
export async function decideExistingChanges(
  context: CommandContext,
  { owner }: Pick<CommandPrincipal, 'owner'>,
  changes: readonly EventualDiamondChange[],
  skipsMissing = true,
): Promise<BulkDecision<ChangedDiamondList> & { readonly missing: readonly number[] }> {
  const changed: ChangedDiamond[] = []
  const faults: ErrorDetail[] = []
  const kinds = new Set<RequestError['kind']>()
  const decisions: DiamondDecision[] = []
  const missing: number[] = []
  for (const { id, pointer, decide, state, revision, lastEventAt } of await loadDiamonds(context, changes)) {
    const refusal = catchRefusal(() => requireOwnedDiamond(state, id, owner))
    if (refusal?.kind === 'missing' && skipsMissing) {
      missing.push(id)
      continue
    }
    const events = refusal === undefined ? await decide(state) : []
    if (refusal !== undefined) {
      kinds.add(refusal.kind)
      faults.push(faultAt(refusal, pointer))
    }
    const ownerRevision = events.length > 0 ? revisionAfter(revision, events.length) : ownerRevisionOf(state, revision)
    changed.push({ id, revision: ownerRevision })
    decisions.push({ stream: diamondStream(id), expected: revision, lastEventAt, events })
  }
  if (faults.length > 0) throw new RequestError(kinds.has('forbidden') ? 'forbidden' : 'missing', faults)
  return { decisions, result: { changed }, missing }
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
