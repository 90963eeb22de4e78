/**
 * Holds the scoring model against what is published, value beside value, and ends with exit code 1 where one fails.
 * A figure that published ones exclude is marked excl, with the reason. `--fast` leaves out the finest traces.
 */
import { print, type Check } from './scores-check/check.ts'
import { geometryChecks, indexChecks, sizeChecks, weightChecks } from './scores-check/geometry.ts'
import { energyChecks, fireChecks, leakageChecks, returnChecks } from './scores-check/light.ts'
import { errorChecks, nominalChecks } from './scores-check/errors.ts'
import { cutGradeChecks } from './scores-check/cut-grades.ts'
import { caseChecks, fallChecks, spreadChecks } from './scores-check/stones.ts'

const chapters: readonly (readonly [string, () => Check[]])[] = [
  ['Refractive index', indexChecks],
  ['Geometry', geometryChecks],
  ['Weight factors, ct / (length x width x depth in mm)', weightChecks],
  ['Mean diameter in mm', sizeChecks],
  ['Spread of the bundled data set, points of pc', spreadChecks],
  ['Spread of the case study', caseChecks],
  ['Grades', fallChecks],
  ['Energy, shape by shape', energyChecks],
  ['Weighted light return', returnChecks],
  ['Leakage', leakageChecks],
  ['Fire', fireChecks],
  ['Cut grades of the GIA, on charts that the model was not made on', cutGradeChecks],
  ...(process.argv.includes('--fast')
    ? []
    : [
        ['Calculation error', errorChecks] as const,
        ['Distance of real stones from their grade', nominalChecks] as const,
      ]),
]

let failed = 0
let excluded = 0
for (const [title, checks] of chapters) {
  const found = checks()
  print(title, found)
  failed += found.filter((check) => !check.holds && check.excluded === undefined).length
  excluded += found.filter((check) => !check.holds && check.excluded !== undefined).length
}
console.log(`\n${failed} failed, ${excluded} excluded by published figures themselves`)
process.exitCode = failed === 0 ? 0 : 1
