import { owned } from '../domain/diamond/decide.ts'
import { evolve, unknown, type Diamond, type DiamondEvent } from '../domain/diamond/diamond.ts'
import { Refusal, type Fault } from '../domain/refusal.ts'
import { WrongRevision, type Append, type Position, type Revision } from '../stores/event-store.ts'
import { appendAll } from './append-all.ts'
import { handle, load, pause, toAppend, type Fold, type Writing } from './handle.ts'
import { diamondStream } from '../domain/diamond/streams.ts'
import type { Origin } from './origin.ts'

export const diamondFold: Fold<Diamond, DiamondEvent> = { initial: unknown, evolve }

/** Whose diamonds may be changed, and who wants it. */
export type By = { readonly owner: number; readonly origin: Origin }

/** One diamond's change as a decision on its state. `pointer` names the entry in a bulk request's body. */
export type DiamondChange = {
  readonly id: number
  readonly pointer?: string
  readonly decide: (diamond: Diamond) => readonly DiamondEvent[]
}

/** Revisions that the caller has seen, from If-Match; any, or `*` for whatever there is. */
export type Match = '*' | readonly bigint[]

/**
 * Changes one diamond.
 * @param command names the wish, so that a repeat after an unknown outcome is recognised
 * @returns where the change stands, undefined when nothing had to change
 * @throws Refusal missing, forbidden, precondition
 */
export async function changeDiamond(
  writing: Writing,
  command: string,
  { owner, origin }: By,
  { id, decide }: DiamondChange,
  match?: Match,
): Promise<Position | undefined> {
  const wish = { stream: diamondStream(id), id: command, origin }
  const { position } = await handle(writing, wish, diamondFold, (diamond, _now, revision) => {
    owned(diamond, id, owner)
    checkMatch(match, diamond, revision)
    return decide(diamond)
  })
  return position
}

/** The revision of an ETag is that of the owner's last change. */
function checkMatch(match: Match | undefined, diamond: Diamond, revision: Revision): void {
  if (match === undefined || match === '*') return
  const behind = diamond.status === 'live' ? BigInt(diamond.readingsBehind) : 0n
  if (revision === 'none' || !match.includes(revision - behind)) {
    throw new Refusal('precondition', 'The diamond has changed since it was read: If-Match does not hold')
  }
}

/** Only another process can come between loading and appending: rare and short. */
const ATTEMPTS = 5

/**
 * Changes several diamonds, all or none.
 * @throws Refusal forbidden, naming every diamond of another account, else missing, naming every unknown one
 */
export function changeDiamonds(
  writing: Writing,
  command: string,
  by: By,
  changes: readonly DiamondChange[],
): Promise<Position | undefined> {
  const streams = changes.map(({ id }) => diamondStream(id))
  return writing.queue.runAll(streams, async () => {
    for (let attempt = 1; ; attempt++) {
      const appends = await decideAll(writing, command, by, changes)
      if (appends.length === 0) return undefined
      try {
        return await appendAll(writing.store, appends)
      } catch (error) {
        if (!(error instanceof WrongRevision) || attempt === ATTEMPTS) throw error
        await pause(attempt)
      }
    }
  })
}

async function decideAll(
  writing: Writing,
  command: string,
  { owner, origin }: By,
  changes: readonly DiamondChange[],
): Promise<Append[]> {
  const appends: Append[] = []
  const faults: Record<'forbidden' | 'missing', Fault[]> = { forbidden: [], missing: [] }
  for (const { id, pointer, decide } of changes) {
    const stream = diamondStream(id)
    const { state, revision, at } = await load(writing.store, stream, diamondFold)
    const refused = refusalOf(() => owned(state, id, owner))
    if (refused === undefined) {
      const events = decide(state)
      const wish = { stream, id: `${command}/${id}`, origin }
      if (events.length > 0) {
        appends.push({ stream, expected: revision, events: toAppend(wish, events, Math.max(writing.clock(), at)) })
      }
    } else {
      const kind = refused.kind === 'forbidden' ? 'forbidden' : 'missing'
      faults[kind].push({ message: refused.message, ...(pointer !== undefined && { pointer }) })
    }
  }
  if (faults.forbidden.length > 0) throw new Refusal('forbidden', faults.forbidden)
  if (faults.missing.length > 0) throw new Refusal('missing', faults.missing)
  return appends
}

function refusalOf(check: () => unknown): Refusal | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}
