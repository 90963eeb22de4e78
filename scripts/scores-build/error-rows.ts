import type { ModelledShape } from '../../src/optics/cut/cut.ts'
import { knowledgeLevels, type KnowledgeLevel } from '../../src/optics/error-margins.ts'
import { generateStones, scoreNames, type SampledScoreName, type MiddleProportions } from './generated-stones.ts'
import type { Tracers } from './tracers.ts'
import { spreadDeviations } from './real-spread.ts'

/** The check uses other stones: scripts/scores-check/coverage.ts. */
const STONES = { from: 0, count: 64 }
const COVERAGE = 0.8

/**
 * The error margins for each level of knowledge: the errors of brilliance, fire and integral (relative) and spread (points of pc) that eight of
 * ten stones do not exceed. The margins of `shape` are at least those of `grade`, because knowing more can only reduce errors, and lower
 * grades vary more than typical stones.
 */
export async function errorRowsOf(
  shape: ModelledShape,
  middles: MiddleProportions,
  tracers: Tracers,
): Promise<Record<KnowledgeLevel, number[]>> {
  const generated = await generateStones(shape, middles, STONES, tracers)
  const deviationsOf = (basis: KnowledgeLevel, scoreName: SampledScoreName) =>
    shape === 'Round' && scoreName === 'spread' && (basis === 'shape' || basis === 'grade')
      ? spreadDeviations(basis, tracers.quick)
      : generated[basis].map((stone) => Math.abs(stone.deviations[scoreName]))
  const row = async (basis: KnowledgeLevel) =>
    Promise.all(
      scoreNames.map(async (scoreName) => {
        const deviation = quantile(await deviationsOf(basis, scoreName), COVERAGE)
        return scoreName === 'spread' ? Math.round(10 * deviation) / 10 : Math.round(1000 * deviation) / 1000
      }),
    )
  const rows = Object.fromEntries(
    await Promise.all(knowledgeLevels.map(async (basis) => [basis, await row(basis)] as const)),
  ) as Record<KnowledgeLevel, number[]>
  return { ...rows, shape: rows.shape.map((deviation, index) => Math.max(deviation, rows.grade[index] ?? 0)) }
}

function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const position = fraction * (sorted.length - 1)
  const [below = NaN, above = below] = sorted.slice(Math.floor(position))
  return below + (position % 1) * (above - below)
}
