import { generateStone, UNGRADED_RANGE } from '../../scripts/scores-build/generated-stones.ts'
import type { ModelledShape } from '../../src/optics/cut/cut.ts'
import { impossibilityOf } from '../../src/optics/cut/possible-cut.ts'
import { unpublishedProportions } from '../../src/optics/cut/proportions.ts'
import { roundDecimals } from '../../src/optics/rounding.ts'
import { SeededRandom } from '../../test/seeded.ts'
import { BULK_SIZE } from '../fill.ts'
import type { StoneJson } from '../stones.ts'

const SEED = 60

/** The shapes of the dictionary with a facet model, by their titles in v4. */
const SHAPES: readonly (readonly [title: string, shape: ModelledShape])[] = [
  ['Round', 'Round'],
  ['Princess', 'Princess'],
  ['Cushion', 'CushionBrilliant'],
  ['Oval', 'Oval'],
  ['Pear', 'Pear'],
  ['Marquise', 'Marquise'],
  ['Radiant', 'Radiant'],
  ['Heart', 'Heart'],
  ['Emerald', 'Emerald'],
  ['Asscher', 'Asscher'],
]

/** Millimetres. */
const WIDTH = 6
/** Carats by length x width x depth in mm, near the middle of published factors. */
const WEIGHT_FACTOR = 0.0065

/** Stones in v4 form, as many of each shape, with proportions by lot: practically no two are equal. In bulks of 500. */
export function* bulksByLot(count: number): Generator<StoneJson[]> {
  const random = new SeededRandom(SEED)
  let bulk: StoneJson[] = []
  for (let made = 0; made < count;) {
    const [title, shape] = SHAPES[made % SHAPES.length] ?? ['Round', 'Round']
    const stone = stoneByLot(title, shape, random)
    if (stone === undefined) continue
    bulk.push({ sku: `STOCK-${++made}`, ...stone })
    if (bulk.length < BULK_SIZE && made < count) continue
    yield bulk
    bulk = []
  }
}

/** Undefined if no stone can have the proportions. */
function stoneByLot(title: string, shape: ModelledShape, random: SeededRandom): StoneJson | undefined {
  const cut = generateStone(shape, 'Typical', unpublishedProportions[shape].Typical, UNGRADED_RANGE, () =>
    random.next(),
  )
  if (impossibilityOf(cut) !== undefined || cut.measured === undefined) return undefined
  const { tablePct = 0, depthPct = 0, crownAngle = 0, girdlePct = 0, starPct = 0, lowerPct = 0 } = cut.measured
  const { lengthToWidth = 1 } = shape === 'Round' ? {} : cut.measured
  const [length, height] = [WIDTH * lengthToWidth, (WIDTH * depthPct) / 100]
  return {
    cutShape: title,
    carat: roundDecimals(length * WIDTH * height * WEIGHT_FACTOR, 2),
    proportions: {
      length: roundDecimals(length, 2),
      width: WIDTH,
      height: roundDecimals(height, 2),
      table: roundDecimals(tablePct, 1),
      depth: roundDecimals(depthPct, 1),
      crownAngle: roundDecimals(crownAngle, 1),
      girdle: roundDecimals(girdlePct, 1),
      star: Math.round(starPct),
      lower: Math.round(lowerPct),
    },
  }
}
