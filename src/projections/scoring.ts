import { scoreDiamonds, type DueStone, type ScoringTools } from '../commands/score-diamonds.ts'
import type { DiamondEvent } from '../domain/diamond/diamond.ts'
import { evolveScoring, mayTouchScores, neverScored, type ScoringState } from '../domain/diamond/scoring-state.ts'
import type { Log } from '../log.ts'
import type { EventStore, StoredEvent } from '../stores/event-store.ts'
import { decode } from '../stores/schemas/decode.ts'
import { giveWay } from './give-way.ts'
import type { Reaction } from './reaction.ts'

export type ScoringOptions = ScoringTools & {
  readonly log: Log
  /** Told how many stones were just scored. */
  readonly scored: (count: number) => void
}

/** Stones scored at once, which requests wait for; between two such runs requests go first. */
const AT_ONCE = 100

/**
 * Scores each stone that is created, and again when something that its scores are computed from changes. A diamond that
 * was created among the events is folded from them; only of others the stream is read.
 */
export function scoring(options: ScoringOptions): Reaction {
  return {
    name: 'scoring',
    prefixes: ['diamond-'],
    async react(events) {
      const due = await dueStones(options, events)
      const running: Promise<PromiseSettledResult<number>[]>[] = []
      for (let from = 0; from < due.length; from += AT_ONCE) {
        running.push(Promise.allSettled([scoreDiamonds(options, due.slice(from, from + AT_ONCE))]))
        await giveWay()
      }
      for (const outcome of (await Promise.all(running)).flat()) {
        if (outcome.status === 'rejected') throw outcome.reason
        options.scored(outcome.value)
      }
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
function foldOrPass({ log }: ScoringOptions, events: readonly StoredEvent[]): ScoringState | undefined {
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

/** A diamond as its whole stream says it is now. @throws what decoding says */
export async function scoringStateOf(store: EventStore, stream: string): Promise<ScoringState> {
  return foldScoring(await store.read(stream))
}
