import { setTimeout as pause } from 'node:timers/promises'
import {
  scoreDiamonds,
  type DiamondToScore,
  type ScoreDiamondsResult,
  type ScoringTools,
} from '../../commands/scores/score-diamonds.ts'
import { diamondStream, scoresStream, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import { recordScores, scoresFold } from '../../domain/diamond/scores.ts'
import {
  evolveScoring,
  mayInvalidateScores,
  initialScoringState,
  type ScoringState,
} from '../../domain/diamond/score-basis.ts'
import { decode, isDecodeError } from '../../events/decode.ts'
import { loadStream } from '../../events/load-stream.ts'
import { traceOf } from '../../events/event-metadata.ts'
import { neverAborted } from '../../projections/engine/loop.ts'
import { defineReaction, type PoisonEvent } from '../../projections/engine/reaction.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'

/** Milliseconds without a request after which none is expected: a client may take as long between two bulks. */
const IDLE_MS = 100

/** Milliseconds between two looks at the requests, and maximum wait for them. */
const POLL_MS = 10
const MAX_YIELD_MS = 500

/**
 * Gives requests priority: waits until there are none, at most half a second, so that scoring is slow under load but
 * never stops. Scores may be an hour late, responses may not.
 * @param isIdleFor whether no request was under way for the given number of milliseconds
 * @returns false if there were requests until the end
 */
export async function yieldToRequests(isIdleFor: (milliseconds: number) => boolean): Promise<boolean> {
  const deadline = performance.now() + MAX_YIELD_MS
  while (!isIdleFor(IDLE_MS)) {
    if (performance.now() >= deadline) return false
    await pause(POLL_MS)
  }
  return true
}

export type ScoringReactionOptions = ScoringTools & {
  /** Called with the number of diamonds just scored. */
  readonly onScored: (count: number) => void
  /** Gives requests priority. @returns false if there still are any */
  readonly yieldToRequests: () => Promise<boolean>
}

/**
 * Diamonds scored in one run, which requests wait for; between runs requests have priority. Each run is one
 * transaction, so larger runs are cheaper while there are no requests.
 */
const BATCH_SIZES = { busy: 100, free: 500 }

/**
 * Scores each created diamond, and again when the inputs of its scores change. A diamond created within the batch is
 * folded from the batch; for others the stream is read. Stored scores stay, whatever version of the model they are of,
 * even if the events are delivered again because the checkpoint was lost.
 */
export const scoring = defineReaction<{ readonly scoring: ScoringReactionOptions }>({
  name: 'scoring',
  streamPrefixes: ['diamond-'],
  createHandler:
    ({ scoring: options }) =>
    async (events, signal = neverAborted()) => {
      const { candidates, poisonEvents, causes } = await findDiamondsToScore(options, events)
      const due = await withoutScored(options, candidates)
      const running: Promise<PromiseSettledResult<ScoreDiamondsResult>[]>[] = []
      for (let from = 0; from < due.length && !signal.aborted;) {
        const isFree = await options.yieldToRequests()
        const to = from + (isFree ? BATCH_SIZES.free : BATCH_SIZES.busy)
        running.push(Promise.allSettled([scoreDiamonds(options, due.slice(from, to), recordScores)]))
        from = to
      }
      for (const outcome of (await Promise.all(running)).flat()) {
        if (outcome.status === 'rejected') throw outcome.reason
        options.onScored(outcome.value.count)
        for (const { diamond, error } of outcome.value.unscored)
          poisonEvents.push({ event: causeOf(causes, diamond), error })
      }
      signal.throwIfAborted()
      return poisonEvents
    },
})

/** The last event of the batch that requires scoring, by diamond. */
type CausesByDiamond = ReadonlyMap<number, StoredEvent>

function causeOf(causes: CausesByDiamond, diamond: number): StoredEvent {
  const cause = causes.get(diamond)
  if (cause === undefined) throw new Error(`diamond ${diamond} was scored without a cause`)
  return cause
}

async function findDiamondsToScore({ store }: ScoringReactionOptions, events: readonly StoredEvent[]) {
  const candidates: DiamondToScore[] = []
  const poisonEvents: PoisonEvent[] = []
  const causes = new Map<number, StoredEvent>()
  for (const [stream, streamEvents] of touchedStreams(events)) {
    const cause = streamEvents.at(-1)
    if (cause === undefined) continue
    const isNew = streamEvents[0]?.revision === 0n
    const history = isNew ? streamEvents : await store.readStream(stream)
    const state = tryFoldScoring(history)
    if ('error' in state) poisonEvents.push({ event: cause, error: state.error })
    else if (state.diamond.status === 'live' && diamondStream(state.diamond.id) === stream) {
      causes.set(state.diamond.id, cause)
      candidates.push({ diamond: state.diamond, stoneRevision: state.stoneRevision, origin: originOf(cause), isNew })
    }
  }
  return { candidates, poisonEvents, causes }
}

/**
 * Spares tracing if the events were delivered before: whether the first diamond has its scores shows that, so that new
 * diamonds cost one read for the whole batch. `recordScores` decides in any case.
 */
async function withoutScored(
  { store }: ScoringReactionOptions,
  candidates: readonly DiamondToScore[],
): Promise<readonly DiamondToScore[]> {
  const [first] = candidates
  if (first === undefined || !(await isScored(store, first))) return candidates
  const scored = await Promise.all(candidates.map((one) => isScored(store, one)))
  return candidates.filter((_, index) => scored[index] !== true)
}

/** False also for scores that can't be decoded. */
async function isScored(
  store: ScoringReactionOptions['store'],
  { diamond, stoneRevision }: DiamondToScore,
): Promise<boolean> {
  try {
    const { state } = await loadStream(store, scoresStream(diamond.id), scoresFold)
    return state !== undefined && state.revision >= stoneRevision
  } catch (error) {
    if (isDecodeError(error)) return false
    throw error
  }
}

/** Events by stream, for streams with an event that may affect scores. */
function touchedStreams(events: readonly StoredEvent[]): Map<string, StoredEvent[]> {
  const byStream = new Map<string, StoredEvent[]>()
  for (const event of events) {
    const streamEvents = byStream.get(event.stream)
    if (streamEvents === undefined) byStream.set(event.stream, [event])
    else streamEvents.push(event)
  }
  for (const [stream, streamEvents] of byStream) if (!streamEvents.some(mayAffectScores)) byStream.delete(stream)
  return byStream
}

/** True also for an event that can't be decoded. */
function mayAffectScores(event: StoredEvent): boolean {
  if (event.type === 'DiamondCreated') return true
  try {
    return mayInvalidateScores(decode<DiamondEvent>(event))
  } catch {
    return true
  }
}

/** The folded stream, or the error if it can't be decoded; its diamond then gets no scores. */
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
