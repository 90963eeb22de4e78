import { scoresStream, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { SymmetryFold } from '../../optics/mesh/symmetry.ts'
import { symmetryFoldOf, stoneOfOwnModel, stoneOf } from '../../domain/diamond/scored-stone.ts'
import { scoresFold, type DiamondScored } from '../../domain/diamond/scores.ts'
import type { Scores } from '../../optics/scores.ts'
import type { Cut } from '../../optics/cut/cut.ts'
import { scoreStone } from '../../optics/score.ts'
import { UntraceableCut } from '../../optics/cut/proportions.ts'
import { cutOf } from '../../optics/cut/stone.ts'
import type { TracedCut } from '../../optics/cut/trace-cut.ts'
import { FLUOR_VERSION } from '../../domain/diamond/fluor-score.ts'
import { OPTICS_VERSION } from '../../optics/version.ts'
import { EventsRemoved } from '../../stores/ports/event-store.ts'
import { handleEach } from '../core/handle-each.ts'
import type { CommandContext } from '../core/command-context.ts'
import { eventId, type Origin } from '../../events/event-metadata.ts'

export type ScoringTools = CommandContext & {
  readonly cuts: TracedCuts
  readonly models: TracedModels
}

/** `find` returns what was traced before. null: no stone can have these proportions. */
type TracedCuts = {
  find(cut: Cut): TracedCut | null | undefined
  trace(cut: Cut): Promise<TracedCut | null>
}

/** Attached 3D models, by the digest of the file. `find` returns what was traced before. */
type TracedModels = {
  find(digest: string, fold: SymmetryFold | undefined): TracedCut | undefined
  /** @throws UntraceableCut */
  trace(digest: string, fold: SymmetryFold | undefined): Promise<TracedCut>
}

export type DiamondToScore = {
  readonly diamond: LiveDiamond
  /** The revision of the latest event that changed an input of the scores. */
  readonly stoneRevision: number
  readonly origin: Origin
  /** Whether the diamond can't have been scored before, unless this is a repeat. */
  readonly isNew: boolean
}

export const MODEL_VERSION = `${OPTICS_VERSION},${FLUOR_VERSION}`

/**
 * `count`: diamonds scored by this call or an earlier attempt. `unscored`: diamonds that can't be scored, or whose scores
 * an operator removed from the log, with the reason.
 */
export type ScoreDiamondsResult = { readonly count: number; readonly unscored: readonly UnscoredDiamond[] }
type UnscoredDiamond = { readonly diamond: number; readonly error: Unscorable | EventsRemoved }

/** What to record, given the scores recorded last: `recordScores` or `replaceScores`. */
type ScoresDecision = (last: DiamondScored['data'] | undefined, data: DiamondScored['data']) => DiamondScored[]

/** The diamond can't be scored. The computation is deterministic, so a retry would not help. */
class Unscorable extends Error {
  override readonly name = 'Unscorable'
}

/** Number of diamonds whose scores are appended together as their cuts are traced, since each append is a transaction. */
const GROUP_SIZE = 20

/**
 * Appends missing scores: those of cached cuts together, the others in groups as cuts are traced. A diamond that can't be scored, or
 * whose scores were removed from the log, does not delay the others.
 * @throws errors of the store, and rejections of `traceCut` other than UntraceableCut, after all others were appended
 */
export async function scoreDiamonds(
  tools: ScoringTools,
  due: readonly DiamondToScore[],
  decide: ScoresDecision,
): Promise<ScoreDiamondsResult> {
  const known: ComputedScores[] = []
  const traced: ComputedScores[] = []
  const unscored: UnscoredDiamond[] = []
  const pending: Promise<number>[] = []
  const recordUnscored = (diamond: number, error: unknown): 0 => {
    if (!(error instanceof Unscorable || error instanceof EventsRemoved)) throw error
    unscored.push({ diamond, error })
    return 0
  }
  /** After an attempt for all of them, of which a store without transactions has kept a part. */
  const appendOneByOne = async (scores: readonly ComputedScores[]): Promise<number> => {
    let count = 0
    for (const one of scores)
      count += await append(tools, [one], decide, true).catch((error: unknown) => recordUnscored(one.diamond.id, error))
    return count
  }
  const appendTogether = (scores: readonly ComputedScores[]): Promise<number> =>
    append(tools, scores, decide).catch((error: unknown) => {
      if (error instanceof EventsRemoved) return appendOneByOne(scores)
      throw error
    })
  const scoreWhenTraced = async (one: DiamondToScore, subject: ScoredSubject): Promise<number> => {
    traced.push({ ...one, scores: subject.score(await subject.trace()) })
    return traced.length === GROUP_SIZE ? appendTogether(traced.splice(0)) : 0
  }
  for (const one of due) {
    const { id } = one.diamond
    try {
      const subject = subjectOf(one.diamond, tools)
      const cut = subject.find()
      if (cut !== undefined) known.push({ ...one, scores: subject.score(cut) })
      else pending.push(scoreWhenTraced(one, subject).catch((error: unknown) => recordUnscored(id, error)))
    } catch (error) {
      recordUnscored(id, error)
    }
  }
  const outcomes = await Promise.allSettled([appendTogether(known), ...pending])
  const lastOutcomes = await Promise.allSettled([appendTogether(traced)])
  let count = 0
  for (const outcome of [...outcomes, ...lastOutcomes]) {
    if (outcome.status === 'rejected') throw outcome.reason
    count += outcome.value
  }
  return { count, unscored }
}

type ComputedScores = DiamondToScore & { readonly scores: Scores }

/** The cut or model that is traced for a diamond's scores. */
type ScoredSubject = {
  /** What was traced before. @throws Unscorable */
  readonly find: () => TracedCut | null | undefined
  /** @throws Unscorable, StoreUnavailable */
  readonly trace: () => Promise<TracedCut | null>
  /** @throws Unscorable */
  readonly score: (cut: TracedCut | null) => Scores
}

/** @throws Unscorable */
function subjectOf(diamond: LiveDiamond, { cuts, models }: ScoringTools): ScoredSubject {
  const { model } = diamond
  const stone = orUnscorable(diamond, () => (model === undefined ? stoneOf(diamond) : stoneOfOwnModel(diamond)))
  const score = (cut: TracedCut | null) => orUnscorable(diamond, () => scoreStone(stone, cut))
  const tracing = (traced: Promise<TracedCut | null>) =>
    traced.catch((error: unknown) => {
      throw error instanceof UntraceableCut ? unscorableError(diamond, error) : error
    })
  if (model === undefined) {
    const cut = orUnscorable(diamond, () => cutOf(stone))
    const find = () => orUnscorable(diamond, () => cut && cuts.find(cut))
    return { find, trace: async () => cut && tracing(cuts.trace(cut)), score }
  }
  const { digest } = model.file
  const fold = symmetryFoldOf(diamond)
  return { find: () => models.find(digest, fold), trace: () => tracing(models.trace(digest, fold)), score }
}

function orUnscorable<Result>(diamond: LiveDiamond, compute: () => Result): Result {
  try {
    return compute()
  } catch (error) {
    throw unscorableError(diamond, error)
  }
}

const unscorableError = ({ id }: LiveDiamond, cause: unknown) =>
  new Unscorable(`diamond ${id}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })

const scoreCommandId = (diamond: number, stoneRevision: number, version: string) =>
  `score/${diamond}/${stoneRevision}/${version}`

/** The id of the event with the scores that a model version computed for a diamond at a revision. */
export const scoredEventId = (diamond: number, stoneRevision: number, version = MODEL_VERSION): string =>
  eventId(scoreCommandId(diamond, stoneRevision, version), 0)

/** @returns the number of appended events; none for scores that this version of the model has recorded already */
const append = (
  context: CommandContext,
  scores: readonly ComputedScores[],
  decide: ScoresDecision,
  isRepeat = false,
): Promise<number> =>
  handleEach(
    context,
    scores.map((one) => toStreamCommand(one, decide)),
    scoresFold,
    isRepeat,
  )

function toStreamCommand({ diamond, stoneRevision, scores, isNew, origin }: ComputedScores, decide: ScoresDecision) {
  const { id } = diamond
  const data = { id, revision: stoneRevision, scores }
  return {
    stream: scoresStream(id),
    id: scoreCommandId(id, stoneRevision, MODEL_VERSION),
    isNew,
    origin,
    decide: (last: DiamondScored['data'] | undefined) => decide(last, data),
  }
}
