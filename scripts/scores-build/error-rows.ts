import type { ModelledShape } from '../../src/domain/scoring/cut/cut.ts'
import { knowledgeLevels, type KnowledgeLevel } from '../../src/domain/scoring/error-margins.ts'
import type { TracePool } from '../../src/scoring/trace-pool.ts'
import { drawnStones, members, type Member, type Middles } from './drawn.ts'
import { realSpreads } from './real-spread.ts'

/** The check uses other stones: scripts/scores-check/coverage.ts. */
const STONES = { from: 0, count: 64 }
const NEARER = 0.8

/**
 * The error margins for each level of knowledge: the errors of brilliance, fire and integral (relative) and spread (points of pc) that eight of
 * ten stones do not exceed. The margins of `shape` are at least those of `grade`, because knowing more can only reduce errors, and lower
 * grades vary more than typical stones.
 */
export async function errorRowsOf(
  shape: ModelledShape,
  middles: Middles,
  pool: TracePool,
): Promise<Record<KnowledgeLevel, number[]>> {
  const drawn = await drawnStones(shape, middles, STONES, pool)
  const offs = (basis: KnowledgeLevel, member: Member) =>
    shape === 'Round' && member === 'spread' && (basis === 'shape' || basis === 'grade')
      ? realSpreads(basis, pool)
      : drawn[basis].map((stone) => Math.abs(stone.off[member]))
  const row = async (basis: KnowledgeLevel) =>
    Promise.all(
      members.map(async (member) => {
        const off = quantile(await offs(basis, member), NEARER)
        return member === 'spread' ? Math.round(10 * off) / 10 : Math.round(1000 * off) / 1000
      }),
    )
  const rows = Object.fromEntries(
    await Promise.all(knowledgeLevels.map(async (basis) => [basis, await row(basis)] as const)),
  ) as Record<KnowledgeLevel, number[]>
  return { ...rows, shape: rows.shape.map((off, member) => Math.max(off, rows.grade[member] ?? 0)) }
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const place = part * (sorted.length - 1)
  const [below = NaN, above = below] = sorted.slice(Math.floor(place))
  return below + (place % 1) * (above - below)
}
