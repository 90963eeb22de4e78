import { availableParallelism } from 'node:os'
import { knowledgeLevels, errorMarginsOf, type KnowledgeLevel } from '../../src/domain/scoring/error-margins.ts'
import { modelledShapes, type Cut } from '../../src/domain/scoring/cut/cut.ts'
import { unpublishedProportions } from '../../src/domain/scoring/cut/proportions.ts'
import { openTracePool } from '../../src/scoring/trace-pool.ts'
import { drawnStones, members, type Drawn } from '../scores-build/drawn.ts'
import { says, type Check } from './check.ts'

/** Per shape. The error margins were computed from other stones. */
const STONES = { from: 64, count: 64 }
const NEARER = 80
const TOLERANCE = 5

/** For generated stones of each level of knowledge, eight of ten errors must be within d. */
export async function coverageChecks(): Promise<Check[]> {
  const pool = openTracePool({ threads: availableParallelism() })
  const drawn = await Promise.all(
    modelledShapes.map((shape) => drawnStones(shape, unpublishedProportions[shape], STONES, pool)),
  )
  await pool.close()
  return knowledgeLevels.flatMap((basis) =>
    covered(
      basis,
      drawn.flatMap((shape) => shape[basis]),
    ),
  )
}

const said: Readonly<Record<KnowledgeLevel, string>> = {
  shape: 'shape',
  grade: 'shape and grade',
  depth: 'table and depth',
  angles: 'table, both angles',
  all: 'angles, stars, halves',
}

function covered(basis: KnowledgeLevel, stones: readonly Drawn[]): Check[] {
  return members.map((member) => {
    const within = stones.filter(({ known, off }) => Math.abs(off[member]) <= errorMarginsOf(stoneOf(known))[member])
    const percent = (100 * within.length) / stones.length
    return says(
      `${said[basis]}: ${member}, ${stones.length} stones`,
      `${NEARER} ± ${TOLERANCE} % within d`,
      `${percent.toFixed(0)} %`,
      Math.abs(percent - NEARER) <= TOLERANCE,
    )
  })
}

const stoneOf = ({ shape, grade, measured }: Cut) => ({
  shape,
  ...(grade !== 'Typical' && { cutGrade: grade }),
  ...(measured !== undefined && { measured }),
})
