import {
  scoreDiamonds,
  scoredEventId,
  type DiamondToScore,
  type ScoringTools,
} from '../../commands/scores/score-diamonds.ts'
import { diamondStream } from '../../domain/diamond/diamond.ts'
import { replaceScores, type DiamondScored } from '../../domain/diamond/scores.ts'
import type { Scores } from '../../optics/scores.ts'
import { FLUOR_VERSION } from '../../domain/diamond/fluor-score.ts'
import { isNewer, OPTICS_VERSION } from '../../optics/version.ts'
import { decode, UnsupportedEventVersion } from '../../events/decode.ts'
import type { Origin } from '../../events/event-metadata.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import { tryFoldScoring } from './scoring.ts'

/** Live diamonds by the model version of their scores. */
type RescoringStatus = {
  /** Ids without scores of this model (older scores or none), in order of creation. */
  readonly due: readonly number[]
  readonly current: number
  /** Scored by a newer release; not replaced. */
  readonly newer: number
}

type ScoresVersionStatus = 'due' | 'current' | 'newer' | 'gone'

/** Reads both streams of every diamond from the start; for occasional use by operators. */
export async function readRescoringStatus(store: EventStore): Promise<RescoringStatus> {
  const statuses = new Map<number, ScoresVersionStatus>()
  for await (const event of store.readAll('start', { prefixes: ['diamond-', 'scores-'] })) {
    const id = Number(event.stream.slice(event.stream.indexOf('-') + 1))
    const before = statuses.get(id)
    const after = before === 'gone' ? before : statusAfter(before, event)
    if (after !== before) statuses.set(id, after)
  }
  const all = [...statuses]
  const count = (status: ScoresVersionStatus) => all.filter(([, found]) => found === status).length
  return {
    due: all.flatMap(([id, status]) => (status === 'due' ? [id] : [])),
    current: count('current'),
    newer: count('newer'),
  }
}

function statusAfter(before: ScoresVersionStatus | undefined, event: StoredEvent): ScoresVersionStatus {
  if (event.type === 'DiamondDeleted') return 'gone'
  return event.type === 'DiamondScored' ? statusOfScores(event) : (before ?? 'due')
}

function statusOfScores(event: StoredEvent): ScoresVersionStatus {
  try {
    const { data } = decode<DiamondScored>(event)
    if (event.id === scoredEventId(data.id, data.revision)) return 'current'
    return isByNewerModel(data.scores) ? 'newer' : 'due'
  } catch (error) {
    return error instanceof UnsupportedEventVersion ? 'newer' : 'due'
  }
}

function isByNewerModel({ fluor, ...optical }: Scores): boolean {
  if (fluor !== null && isNewer(fluor.ver, FLUOR_VERSION)) return true
  return Object.values(optical).some((score) => score !== null && isNewer(score.ver, OPTICS_VERSION))
}

/**
 * Scores live diamonds with this model. Diamonds that already have such scores are skipped, so an interrupted run can
 * be repeated. Older scores stay in the history.
 * @returns how many now have scores of this model, from this call or another process
 * @throws errors of the store and of ray tracing
 */
export async function rescore(
  tools: ScoringTools & { readonly log: AppLogger },
  diamonds: readonly number[],
  origin: Origin,
): Promise<number> {
  const due: DiamondToScore[] = []
  for (const id of diamonds) {
    const state = tryFoldScoring(await tools.store.readStream(diamondStream(id)))
    if ('error' in state)
      tools.log.warn({ err: state.error, diamond: id }, 'a diamond has events that cannot be decoded: not scored')
    if ('error' in state || state.diamond.status !== 'live') continue
    due.push({ diamond: state.diamond, stoneRevision: state.stoneRevision, origin, isNew: false })
  }
  const { count, unscored } = await scoreDiamonds(tools, due, replaceScores)
  for (const { diamond, error } of unscored) tools.log.warn({ err: error, diamond }, 'a diamond cannot be scored')
  return count
}
