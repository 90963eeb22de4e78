import { scoresStream, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { Fold } from '../../domain/scoring/mesh/symmetry.ts'
import { foldOf, ownStone, stoneOf } from '../../domain/diamond/scored-stone.ts'
import { scored, scoresDecider, type DiamondScored, type Scores } from '../../domain/diamond/scores.ts'
import type { Cut } from '../../domain/scoring/cut/cut.ts'
import { score } from '../../domain/scoring/score.ts'
import { UntraceableCut } from '../../domain/scoring/cut/proportions.ts'
import { cutOf, type Stone } from '../../domain/scoring/cut/stone.ts'
import type { TracedCut } from '../../domain/scoring/cut/trace-cut.ts'
import { FLUOR_VERSION, OPTICS_VERSION } from '../../domain/scoring/version.ts'
import { handleEach, type Writing } from '../core/handle.ts'
import { eventId, type Origin } from '../../events/origin.ts'

export type ScoringTools = Writing & {
  /** At once where the cut is known, else when it has been traced; null where no stone can have its proportions. */
  readonly traced: (cut: Cut) => TracedCut | null | Promise<TracedCut | null>
  /** A stone's own body; rejects with UntraceableCut where its file can't be traced. */
  readonly tracedModel: (digest: string, fold: Fold | undefined) => TracedCut | Promise<TracedCut>
}

export type DueStone = {
  readonly diamond: LiveDiamond
  /** Of the diamond's last event that changed what its scores are computed from. */
  readonly stoneRevision: number
  readonly origin: Origin
  /** True where it can't have been scored before, unless this is a repeat. */
  readonly isNew: boolean
}

/** Of the whole model: other scores have another version. */
export const MODEL_VERSION = `${OPTICS_VERSION},${FLUOR_VERSION}`

/** What came of it: how many have scores by this call or a repeat of it, and which can have none, with the reason. */
export type Scoring = { readonly count: number; readonly unscored: readonly Unscored[] }
export type Unscored = { readonly diamond: number; readonly error: Unscorable }

/** No scores can be computed for a stone, now or later: what computes them is pure, so trying again would not help. */
class Unscorable extends Error {
  override readonly name = 'Unscorable'
}

/**
 * Appends the scores of diamonds, as far as they are not there: known cuts together, others as each is traced. A stone that
 * no scores can be computed for keeps no other one waiting.
 * @throws what the store says, and what `traced` rejects with but UntraceableCut, after all others were appended
 */
export async function scoreDiamonds(tools: ScoringTools, due: readonly DueStone[]): Promise<Scoring> {
  const known: Scored[] = []
  const unscored: Unscored[] = []
  const later: Promise<number>[] = []
  const setAside = (diamond: number, error: unknown): 0 => {
    if (!(error instanceof Unscorable)) throw error
    unscored.push({ diamond, error })
    return 0
  }
  for (const stone of due) {
    const { id } = stone.diamond
    try {
      const scores = scoresOf(stone.diamond, tools)
      if (!(scores instanceof Promise)) known.push({ ...stone, scores })
      else {
        const appended = async () => append(tools, [{ ...stone, scores: await scores }])
        later.push(appended().catch((error: unknown) => setAside(id, error)))
      }
    } catch (error) {
      setAside(id, error)
    }
  }
  let count = 0
  for (const outcome of await Promise.allSettled([append(tools, known), ...later])) {
    if (outcome.status === 'rejected') throw outcome.reason
    count += outcome.value
  }
  return { count, unscored }
}

type Scored = DueStone & { readonly scores: Scores }

/** @throws Unscorable, also by the promise */
function scoresOf(diamond: LiveDiamond, tools: ScoringTools): Scores | Promise<Scores> {
  const { model } = diamond
  const stone = computed(diamond, () => (model === undefined ? stoneOf(diamond) : ownStone(diamond)))
  const found = computed(diamond, () =>
    model === undefined ? tracedCut(stone, tools) : tools.tracedModel(model.file.digest, foldOf(diamond)),
  )
  if (!(found instanceof Promise)) return computed(diamond, () => score(stone, found))
  return found.then(
    (one) => computed(diamond, () => score(stone, one)),
    (error: unknown) => {
      throw error instanceof UntraceableCut ? unscorable(diamond, error) : error
    },
  )
}

function tracedCut(stone: Stone, { traced }: ScoringTools): ReturnType<ScoringTools['traced']> {
  const cut = cutOf(stone)
  return cut === null ? null : traced(cut)
}

function computed<Result>(diamond: LiveDiamond, compute: () => Result): Result {
  try {
    return compute()
  } catch (error) {
    throw unscorable(diamond, error)
  }
}

const unscorable = ({ id }: LiveDiamond, cause: unknown) =>
  new Unscorable(`diamond ${id}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })

const scoreName = (diamond: number, stoneRevision: number, version: string) =>
  `score/${diamond}/${stoneRevision}/${version}`

/** Of the event by which a model, this one unless told, scores a stone as it was at that revision. */
export const scoredId = (diamond: number, stoneRevision: number, version = MODEL_VERSION): string =>
  eventId(scoreName(diamond, stoneRevision, version), 0)

/** @returns how many were written: not where they are there already, or those of a later stone or a newer release */
const append = (writing: Writing, scores: readonly Scored[]): Promise<number> =>
  handleEach(writing, scores.map(wishOf), scoresDecider)

function wishOf({ diamond, stoneRevision, scores, isNew, origin }: Scored) {
  const { id } = diamond
  const data = { id, revision: stoneRevision, scores }
  const decide = (last: DiamondScored['data'] | undefined) => scored(last, data)
  return { stream: scoresStream(id), id: scoreName(id, stoneRevision, MODEL_VERSION), isNew, origin, decide }
}
