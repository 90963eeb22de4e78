import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import {
  scoreDiamonds,
  type DiamondToScore,
  type ScoreDiamondsResult,
  type ScoringTools,
} from '../../commands/scores/score-diamonds.ts'
import { diamondStream, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import {
  evolveScoring,
  mayInvalidateScores,
  initialScoringState,
  type ScoringState,
} from '../../domain/diamond/score-basis.ts'
import { decode } from '../../events/decode.ts'
import { traceOf } from '../../events/event-metadata.ts'
import { neverAborted } from '../../projections/engine/loop.ts'
import { defineReaction, type PoisonEvent } from '../../projections/engine/reaction.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'

/** Milliseconds without a request after which there is nobody to let go first: who sends one after the other needs one. */
const IDLE_MS = 4

/** Milliseconds of one look at how busy the event loop is, and the longest that who gives way waits. */
const SAMPLE_MS = 2
const MAX_YIELD_MS = 1_000

/** Share of a look in which the event loop may be busy with others' work. */
const BUSY_UTILIZATION = 0.7

/**
 * Lets requests go first: waits while they keep the event loop busy, at most a second, so that what gives way is slow
 * under load and never stands still. Scores may come an hour after a stone; answers may not.
 * @param hasRested whether no request was under way for so many milliseconds
 * @returns false where the event loop was busy to the end
 */
export async function yieldToRequests(hasRested: (milliseconds: number) => boolean): Promise<boolean> {
  // What arrived meanwhile is taken in first.
  await nextTurn()
  const end = performance.now() + MAX_YIELD_MS
  while (performance.now() < end) {
    if (hasRested(IDLE_MS)) return true
    const before = performance.eventLoopUtilization()
    await pause(SAMPLE_MS)
    if (performance.eventLoopUtilization(before).utilization <= BUSY_UTILIZATION) return true
  }
  return false
}

export type ScoringReactionOptions = ScoringTools & {
  /** Told how many stones were just scored. */
  readonly onScored: (count: number) => void
  /** Lets requests go first. @returns false where they go on */
  readonly yieldToRequests: () => Promise<boolean>
}

/**
 * Stones scored at once, which requests wait for; between two such runs requests go first. Each run is one transaction, so
 * that many at once cost less, where nobody seems to ask for anything.
 */
const BATCH_SIZES = { busy: 100, free: 500 }

/**
 * Scores each stone that is created, and again when something that its scores are computed from changes. A diamond that
 * was created among the events is folded from them; only of others the stream is read.
 */
export const scoring = defineReaction<{ readonly scoring: ScoringReactionOptions }>({
  name: 'scoring',
  streamPrefixes: ['diamond-'],
  createHandler({ scoring: options }) {
    let isFree = false
    return async (events, signal = neverAborted()) => {
      const { due, aside, causes } = await dueStones(options, events)
      const running: Promise<PromiseSettledResult<ScoreDiamondsResult>[]>[] = []
      for (let from = 0; from < due.length && !signal.aborted;) {
        const to = from + (isFree ? BATCH_SIZES.free : BATCH_SIZES.busy)
        running.push(Promise.allSettled([scoreDiamonds(options, due.slice(from, to))]))
        from = to
        isFree = await options.yieldToRequests()
      }
      for (const outcome of (await Promise.all(running)).flat()) {
        if (outcome.status === 'rejected') throw outcome.reason
        options.onScored(outcome.value.count)
        for (const { diamond, error } of outcome.value.unscored) aside.push({ event: causeOf(causes, diamond), error })
      }
      signal.throwIfAborted()
      return aside
    }
  },
})

/** By diamond: the last event that its stone is due for. */
type CausesByDiamond = ReadonlyMap<number, StoredEvent>

function causeOf(causes: CausesByDiamond, diamond: number): StoredEvent {
  const cause = causes.get(diamond)
  if (cause === undefined) throw new Error(`diamond ${diamond} was scored without a cause`)
  return cause
}

async function dueStones({ store }: ScoringReactionOptions, events: readonly StoredEvent[]) {
  const due: DiamondToScore[] = []
  const poisonEvents: PoisonEvent[] = []
  const causes = new Map<number, StoredEvent>()
  for (const [stream, found] of touchedStreams(events)) {
    const cause = found.at(-1)
    if (cause === undefined) continue
    const isNew = found[0]?.revision === 0n
    const all = isNew ? found : await store.read(stream)
    const state = tryFoldScoring(all)
    if ('error' in state) poisonEvents.push({ event: cause, error: state.error })
    else if (state.diamond.status === 'live' && diamondStream(state.diamond.id) === stream) {
      causes.set(state.diamond.id, cause)
      due.push({ diamond: state.diamond, stoneRevision: state.stoneRevision, origin: originOf(cause), isNew })
    }
  }
  return { due, aside: poisonEvents, causes }
}

/** The events of each stream of which one touches scores, by stream. */
function touchedStreams(events: readonly StoredEvent[]): Map<string, StoredEvent[]> {
  const byStream = new Map<string, StoredEvent[]>()
  for (const event of events) {
    const found = byStream.get(event.stream)
    if (found === undefined) byStream.set(event.stream, [event])
    else found.push(event)
  }
  for (const [stream, found] of byStream) if (!found.some(mayAffectScores)) byStream.delete(stream)
  return byStream
}

/** Of an event that can't be understood nobody knows whether it does. */
function mayAffectScores(event: StoredEvent): boolean {
  if (event.type === 'DiamondCreated') return true
  try {
    return mayInvalidateScores(decode<DiamondEvent>(event))
  } catch {
    return true
  }
}

/** What a stream comes to, or why that can't be understood, now or ever: then its diamond has no scores. */
export function tryFoldScoring(events: readonly StoredEvent[]): ScoringState | { readonly error: unknown } {
  try {
    return foldScoring(events)
  } catch (error) {
    return { error }
  }
}

const foldScoring = (events: readonly StoredEvent[]): ScoringState =>
  events.reduce(
    (state, event) => evolveScoring(state, decode<DiamondEvent>(event), Number(event.revision)),
    initialScoringState,
  )

const originOf = (cause: StoredEvent) => ({
  actor: 'scoring',
  via: 'projection' as const,
  correlation: cause.metadata['$correlationId'] ?? cause.id,
  causation: cause.id,
  ...traceOf(cause),
})
