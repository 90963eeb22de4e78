import { scoreDiamonds, type DueStone, type ScoringTools } from '../commands/score-diamonds.ts'
import type { DiamondEvent } from '../domain/diamond/diamond.ts'
import { evolveScoring, mayTouchScores, neverScored, type ScoringState } from '../domain/diamond/scoring-state.ts'
import type { Log } from '../log.ts'
import type { StoredEvent } from '../stores/event-store.ts'
import { decode } from '../stores/schemas/decode.ts'
import { unstopped } from './keep-trying.ts'
import type { Reaction } from './reaction.ts'

export type ScoringOptions = ScoringTools & {
  readonly log: Log
  /** Told how many stones were just scored. */
  readonly scored: (count: number) => void
  /** Lets requests go first. @returns false where they go on */
  readonly giveWay: () => Promise<boolean>
}

/** What is known of it from outside: where its checkpoint is, and which streams it reads. */
export const SCORING = { name: 'scoring', prefixes: ['diamond-'] } as const

/**
 * Stones scored at once, which requests wait for; between two such runs requests go first. Each run is one transaction, so
 * that many at once cost less, where nobody seems to ask for anything.
 */
const AT_ONCE = { busy: 100, free: 500 }

/**
 * Scores each stone that is created, and again when something that its scores are computed from changes. A diamond that
 * was created among the events is folded from them; only of others the stream is read.
 */
export function scoring(options: ScoringOptions): Reaction {
  let isFree = false
  return {
    ...SCORING,
    async react(events, signal = unstopped()) {
      const due = await dueStones(options, events)
      const running: Promise<PromiseSettledResult<number>[]>[] = []
      for (let from = 0; from < due.length && !signal.aborted;) {
        const to = from + (isFree ? AT_ONCE.free : AT_ONCE.busy)
        running.push(Promise.allSettled([scoreDiamonds(options, due.slice(from, to))]))
        from = to
        isFree = await options.giveWay()
      }
      for (const outcome of (await Promise.all(running)).flat()) {
        if (outcome.status === 'rejected') throw outcome.reason
        options.scored(outcome.value)
      }
      signal.throwIfAborted()
    },
  }
}

async function dueStones(options: ScoringOptions, events: readonly StoredEvent[]): Promise<DueStone[]> {
  const due: DueStone[] = []
  for (const [stream, found] of touchedStreams(events)) {
    const isNew = found[0]?.revision === 0n
    const state = foldOrPass(options, isNew ? found : await options.store.read(stream))
    const cause = found.at(-1)
    if (state?.diamond.status !== 'live' || cause === undefined) continue
    due.push({ diamond: state.diamond, inputsRevision: state.inputsRevision, origin: originOf(cause), isNew })
  }
  return due
}

/** The events of each stream of which one touches scores, by stream. */
function touchedStreams(events: readonly StoredEvent[]): Map<string, StoredEvent[]> {
  const byStream = new Map<string, StoredEvent[]>()
  for (const event of events) {
    const found = byStream.get(event.stream)
    if (found === undefined) byStream.set(event.stream, [event])
    else found.push(event)
  }
  for (const [stream, found] of byStream) if (!found.some(touches)) byStream.delete(stream)
  return byStream
}

const touches = ({ type, data }: StoredEvent): boolean => mayTouchScores({ type, data } as unknown as DiamondEvent)

/** A stream that can't be understood, now or ever, is passed over: its diamond has no scores. */
export function foldOrPass(
  { log }: Pick<ScoringOptions, 'log'>,
  events: readonly StoredEvent[],
): ScoringState | undefined {
  try {
    return foldScoring(events)
  } catch (error) {
    log.warn({ err: error, stream: events[0]?.stream }, 'a diamond was not scored, since its events are not understood')
    return undefined
  }
}

const foldScoring = (events: readonly StoredEvent[]): ScoringState =>
  events.reduce(
    (state, event) => evolveScoring(state, decode<DiamondEvent>(event), Number(event.revision)),
    neverScored,
  )

const originOf = (cause: StoredEvent) => ({
  actor: 'scoring',
  via: 'projection' as const,
  correlation: cause.metadata['$correlationId'] ?? cause.id,
  causation: cause.id,
})
