import { randomUUID } from 'node:crypto'
import { owned } from '../../domain/diamond/decide.ts'
import { unknown, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import { diamondStream } from '../../domain/diamond/streams.ts'
import { Refusal, type Fault } from '../../domain/refusal.ts'
import { metadata } from '../../events/origin.ts'
import { WrongRevision, type Append } from '../../stores/ports/event-store.ts'
import { appendTogether, type Together } from '../bulk/carry-out.ts'
import { after, type Writing } from '../core/handle.ts'
import { toAppend } from '../core/stamp.ts'
import { pause } from '../core/tries.ts'
import {
  diamondFold,
  ownersRevision,
  type By,
  type Changed,
  type ChangedDiamonds,
  type DiamondChange,
} from './diamonds.ts'

/** Only another process can come between loading and appending: rare and short. */
const ATTEMPTS = 5

/** A diamond that somebody names. `pointer` is where in a bulk request's body. */
type Named = Pick<DiamondChange, 'id' | 'pointer'>

/** What of these the owner may not touch, as a refusal of them would say it, in their order. */
export async function ownershipFaults(
  { store, states }: Writing,
  owner: number,
  named: readonly Named[],
): Promise<Fault[]> {
  const loaded = await Promise.all(named.map(({ id }) => states.load(store, diamondStream(id), diamondFold)))
  return named.flatMap(({ id, pointer }, index) => {
    const refused = refusalOf(() => owned(loaded[index]?.state ?? unknown, id, owner))
    return refused === undefined ? [] : [faultAt(refused, pointer)]
  })
}

const faultAt = ({ message }: Refusal, pointer: string | undefined): Fault => ({
  message,
  ...(pointer !== undefined && { pointer }),
})

/**
 * Changes several diamonds, all or none.
 * @throws Refusal naming every diamond of another account and every unknown one, in their order: forbidden where there is
 *   one of the first kind, else missing
 */
export function changeDiamonds(writing: Writing, by: By, changes: readonly DiamondChange[]): Promise<ChangedDiamonds> {
  const streams = changes.map(({ id }) => diamondStream(id))
  const subject = streams[0] ?? diamondStream(0)
  const run = () => writing.outcomes.of(subject, () => changeNow(writing, by, changes))
  return writing.queue.runAll(streams, run)
}

async function changeNow(writing: Writing, by: By, changes: readonly DiamondChange[]): Promise<ChangedDiamonds> {
  for (let attempt = 1; ; attempt++) {
    const { changed, ...decided } = await decideAll(writing, by, changes)
    if (decided.appends.length === 0) return { position: undefined, changed }
    for (const { stream } of decided.appends) writing.states.forget(stream)
    try {
      return { position: await appendTogether(writing, decided), changed }
    } catch (error) {
      if (!(error instanceof WrongRevision) || attempt === ATTEMPTS) throw error
      for (const { stream } of decided.appends.slice(0, 1)) writing.outcomes.retried(stream, error)
      await pause(attempt)
    }
  }
}

type Decided = Together & { readonly changed: readonly Changed[] }

type Decision = Pick<Append, 'stream' | 'expected'> & { readonly events: readonly DiamondEvent[] }

/**
 * What changes diamonds, to be appended, as they are now.
 * @throws Refusal as `changeDiamonds` does
 */
export async function decideAll(
  writing: Writing,
  { owner, origin }: By,
  changes: readonly DiamondChange[],
): Promise<Decided> {
  const wishes: Decision[] = []
  const changed: Changed[] = []
  const faults: Fault[] = []
  const kinds = new Set<Refusal['kind']>()
  let now = writing.clock()
  const loading = changes.map(async (change) => {
    const stream = diamondStream(change.id)
    return { ...change, stream, ...(await writing.states.load(writing.store, stream, diamondFold)) }
  })
  for (const { id, pointer, decide, stream, state, revision, at } of await Promise.all(loading)) {
    const refused = refusalOf(() => owned(state, id, owner))
    if (refused === undefined) {
      const events = decide(state)
      now = Math.max(now, at)
      if (events.length > 0) wishes.push({ stream, expected: revision, events })
      changed.push({
        id,
        revision: events.length > 0 ? after(revision, events.length) : ownersRevision(state, revision),
      })
    } else {
      kinds.add(refused.kind)
      faults.push(faultAt(refused, pointer))
    }
  }
  if (faults.length > 0) throw new Refusal(kinds.has('forbidden') ? 'forbidden' : 'missing', faults)
  const appends = wishes.map(({ stream, expected, events }) => ({
    stream,
    expected,
    events: toAppend({ id: randomUUID(), origin }, events, now),
  }))
  return { diamonds: changed.map(({ id }) => id), appends, metadata: metadata(origin, now), changed }
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
