import { knowledgeLevels, errorMarginsOf, type KnowledgeLevel } from '../../src/optics/error-margins.ts'
import { modelledShapes, type Cut } from '../../src/optics/cut/cut.ts'
import { unpublishedProportions } from '../../src/optics/cut/proportions.ts'
import { generateStones, scoreNames, type GeneratedStone } from '../scores-build/generated-stones.ts'
import { withTracers } from '../scores-build/tracers.ts'
import { makeCheck, type Check } from './check.ts'

/** Per shape. The error margins were computed from other stones. */
const STONES = { from: 64, count: 64 }
const COVERED_PERCENT = 80
const TOLERANCE = 5

/** For generated stones of each level of knowledge, eight of ten errors must be within d. */
export async function coverageChecks(): Promise<Check[]> {
  const generated = await withTracers((tracers) =>
    Promise.all(modelledShapes.map((shape) => generateStones(shape, unpublishedProportions[shape], STONES, tracers))),
  )
  return knowledgeLevels.flatMap((basis) =>
    coverageOf(
      basis,
      generated.flatMap((shape) => shape[basis]),
    ),
  )
}

const levelTitles: Readonly<Record<KnowledgeLevel, string>> = {
  shape: 'shape',
  grade: 'shape and grade',
  depth: 'table and depth',
  angles: 'table, both angles',
  all: 'angles, stars, halves',
}

function coverageOf(basis: KnowledgeLevel, stones: readonly GeneratedStone[]): Check[] {
  return scoreNames.map((scoreName) => {
    const covered = stones.filter(
      ({ known, deviations }) => Math.abs(deviations[scoreName]) <= errorMarginsOf(stoneOf(known))[scoreName],
    )
    const percent = (100 * covered.length) / stones.length
    return makeCheck(
      `${levelTitles[basis]}: ${scoreName}, ${stones.length} stones`,
      `${COVERED_PERCENT} ± ${TOLERANCE} % within d`,
      `${percent.toFixed(0)} %`,
      Math.abs(percent - COVERED_PERCENT) <= TOLERANCE,
    )
  })
}

const stoneOf = ({ shape, grade, measured }: Cut) => ({
  shape,
  ...(grade !== 'Typical' && { cutGrade: grade }),
  ...(measured !== undefined && { measured }),
})
