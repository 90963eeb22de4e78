/**
 * Compares the scoring model with published figures, side by side. Exits with code 1 if a check fails. A figure that contradicts other
 * published figures is marked excl, with the reason. `--fast` skips the slowest checks. Other arguments select chapters whose titles
 * contain one of these words.
 */
import { print, type Check, type ChapterKind } from './scores-check/check.ts'
import { geometryChecks, indexChecks, sizeChecks, weightChecks } from './scores-check/geometry.ts'
import { energyChecks, fireChecks, leakageChecks, returnChecks } from './scores-check/light.ts'
import { errorChecks, nominalChecks } from './scores-check/errors.ts'
import { fullTracingChecks } from './scores-check/full-tracing.ts'
import { coverageChecks } from './scores-check/coverage.ts'
import { cutGradeChecks, statedDesignChecks } from './scores-check/cut-grades.ts'
import { shapeChecks } from './scores-check/shapes.ts'
import { secondFireChecks, secondTracerChecks } from './scores-check/second-tracer.ts'
import { leanChecks, symmetryChecks } from './scores-check/symmetry.ts'
import { caseStudyChecks, monotonicityChecks, gradeOrderChecks, spreadChecks } from './scores-check/stones.ts'

const args = process.argv.slice(2)
const titleWords = args.filter((word) => word !== '--fast')

const chapters: readonly (readonly [string, ChapterKind, () => Check[] | Promise<Check[]>])[] = [
  ['Refractive index', 'published', indexChecks],
  ['Geometry', 'published', geometryChecks],
  ['Weight factors, ct / (length x width x depth in mm)', 'published', weightChecks],
  ['Mean diameter in mm', 'published', sizeChecks],
  ['Spread of the bundled data set, points of pc', 'published', spreadChecks],
  ['Spread of the case study', 'published', caseStudyChecks],
  ['Grades', 'property', monotonicityChecks],
  ['Grades of every shape', 'property', gradeOrderChecks],
  ['Shapes other than round, and tables larger than published', 'property', shapeChecks],
  ['Worse symmetry, worse polish', 'property', symmetryChecks],
  ['Energy, shape by shape', 'property', energyChecks],
  ['Weighted light return', 'published', returnChecks],
  ['Leakage', 'published', leakageChecks],
  ['Fire', 'property', fireChecks],
  ['GIA cut grades, on charts not used for calibration', 'published', cutGradeChecks],
  ['GIA cut grades, by table and angles that owners state', 'published', statedDesignChecks],
  ...(args.includes('--fast')
    ? []
    : [
        ['Weighted light return by a second tracer', 'independent', secondTracerChecks] as const,
        ['Fire by a second tracer', 'independent', secondFireChecks] as const,
        ['Full tracing in double precision', 'independent', fullTracingChecks] as const,
        ['Sampling error', 'property', errorChecks] as const,
        ['Tilted facets, on stones not used for the factors', 'property', leanChecks] as const,
        ['Error margins, on stones not used for the margins', 'property', coverageChecks] as const,
        ['Error margins, on real stones', 'property', nominalChecks] as const,
      ]),
]

let failed = 0
let excluded = 0
for (const [title, kind, checks] of chapters) {
  if (titleWords.length > 0 && !titleWords.some((word) => title.toLowerCase().includes(word.toLowerCase()))) continue
  const found = await checks()
  print(title, kind, found)
  failed += found.filter((check) => !check.holds && check.excluded === undefined).length
  excluded += found.filter((check) => !check.holds && check.excluded !== undefined).length
}
console.log(`\n${failed} failed, ${excluded} excluded because published figures contradict each other`)
process.exitCode = failed === 0 ? 0 : 1
