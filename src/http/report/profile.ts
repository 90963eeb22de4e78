import type { MeasuredProportions } from '../../domain/certification/measured-proportions.ts'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import { stoneOf } from '../../domain/diamond/scored-stone.ts'
import type { ModelledShape } from '../../optics/cut/cut.ts'
import { possibleCut } from '../../optics/cut/possible-cut.ts'
import { proportionsOf, type Proportions } from '../../optics/cut/proportions.ts'
import { cutOf } from '../../optics/cut/stone.ts'
import { brioletteRings } from '../../optics/shapes/roses.ts'
import type { StoneFact } from '../../representations/diamond/facts.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'

type ProportionName = Exclude<keyof MeasuredProportions, 'size'>

/** In the usual order of laboratory reports. */
const MEASURES: readonly (readonly [name: ProportionName, label: string, unit: string])[] = [
  ['table', 'Table', ' %'],
  ['depth', 'Depth', ' %'],
  ['crownAngle', 'Crown angle', '°'],
  ['pavilionAngle', 'Pavilion angle', '°'],
  ['girdle', 'Girdle', ' %'],
  ['star', 'Star length', ' %'],
  ['lower', 'Lower halves', ' %'],
]

/** The proportions that a laboratory report states. */
export function measuredFacts(measured: MeasuredProportions): readonly StoneFact[] {
  const { size } = measured
  return [
    ...(size === undefined
      ? []
      : [['Measurements', `${[size.length, size.width, size.depth].map(mm).join(' × ')} mm`] as const]),
    ...MEASURES.flatMap(([name, label, unit]) => {
      const value = measured[name]
      return value === undefined ? [] : [[label, `${value}${unit}`] as const]
    }),
  ]
}

/** `5.70` */
const mm = (length: number): string => length.toFixed(2)

/** In units of the drawing: the width of the stone, and the margins for figures. */
const WIDTH = 200
const SIDE = 70
const TOP = 34
const BOTTOM = 34

/**
 * A side view of the stone with the measured figures. Parts without a measurement are drawn with typical proportions of its
 * shape and grade.
 * @returns NOTHING if the shape has no optical model
 */
export function profileOf(diamond: LiveDiamond, measured: MeasuredProportions): Html {
  const cut = cutOf(stoneOf(diamond))
  if (cut === null) return NOTHING
  const drawnCut = possibleCut(cut)
  const proportions = proportionsOf(drawnCut)
  const label = measuredFacts(measured)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
  return html`<figure class="profile">
    ${drawing(sideOf(cut.shape, proportions), measured, `The stone from the side: ${label}`)}
    <figcaption>
      ${drawnCut === cut ? NOTHING : FIGURES_DISAGREE} Figures are from the laboratory. Parts without a figure are drawn
      with typical proportions.
    </figcaption>
  </figure>`
}

const FIGURES_DISAGREE = html`<strong
  >These figures contradict each other, so the drawing shows typical proportions.</strong
>`

/** A side view in units of the drawing: outline, lower end, and the upper and lower edge of the girdle, if there is one. */
type StoneProfile = {
  readonly outline: readonly (readonly [x: number, y: number])[]
  readonly end: number
  readonly girdle?: GirdleEdges
}
type GirdleEdges = { readonly upperEdge: number; readonly lowerEdge: number }

const [LEFT, RIGHT, MIDDLE] = [SIDE, SIDE + WIDTH, SIDE + WIDTH / 2]

function sideOf(shape: ModelledShape, proportions: Proportions): StoneProfile {
  const { table, crownHeight, girdle, pavilionDepth, culet } = proportions
  if (shape === 'Rose') return roseSide(proportions)
  if (shape === 'Briolette') return dropSide(proportions)
  const upperEdge = TOP + crownHeight * WIDTH
  const lowerEdge = upperEdge + girdle * WIDTH
  const end = lowerEdge + pavilionDepth * WIDTH * (1 - culet)
  const [tableHalf, culetHalf] = [(table * WIDTH) / 2, (culet * WIDTH) / 2]
  const outline = [
    [MIDDLE - tableHalf, TOP],
    [MIDDLE + tableHalf, TOP],
    [RIGHT, upperEdge],
    [RIGHT, lowerEdge],
    [MIDDLE + culetHalf, end],
    [MIDDLE - culetHalf, end],
    [LEFT, lowerEdge],
    [LEFT, upperEdge],
  ] as const
  return { outline, end, girdle: { upperEdge, lowerEdge } }
}

/** A rose cut: a flat base at the girdle, and two rows of facets up to the point. */
function roseSide({ table, crownHeight, girdle, pavilionDepth }: Proportions): StoneProfile {
  const crown = TOP + crownHeight * WIDTH
  const upperEdge = crown + pavilionDepth * WIDTH
  const end = upperEdge + girdle * WIDTH
  const half = ((1 - table) * WIDTH) / 2
  const outline = [
    [MIDDLE, TOP],
    [MIDDLE + half, crown],
    [RIGHT, upperEdge],
    [RIGHT, end],
    [LEFT, end],
    [LEFT, upperEdge],
    [MIDDLE - half, crown],
  ] as const
  return { outline, end, girdle: { upperEdge, lowerEdge: end } }
}

/** A briolette, drawn with the point up, as it is worn. It has neither table nor girdle. */
function dropSide(proportions: Proportions): StoneProfile {
  const rings = brioletteRings(proportions)
  const point = Math.max(...rings.map(({ up }) => up))
  const sideOutline = (side: 1 | -1) =>
    rings.map(({ up, radius }) => [MIDDLE + side * radius * WIDTH, TOP + (point - up) * WIDTH] as const)
  return { outline: [...sideOutline(1), ...sideOutline(-1).reverse()], end: TOP + proportions.lengthToWidth * WIDTH }
}

function drawing({ outline, end, girdle }: StoneProfile, measured: MeasuredProportions, label: string): Html {
  return html`<svg viewBox="0 0 ${units(2 * SIDE + WIDTH)} ${units(end + BOTTOM)}" role="img" aria-label="${label}">
    <path class="stone" d="M${outline.map(([x, y]) => `${units(x)} ${units(y)}`).join('L')}Z" />
    ${girdle === undefined ? NOTHING : girdleAndLabels(girdle, end, measured)}
    ${measured.size === undefined ? NOTHING : sizeLabel(MIDDLE, end + 24, measured.size)}
  </svg>`
}

function girdleAndLabels({ upperEdge, lowerEdge }: GirdleEdges, end: number, measured: MeasuredProportions): Html {
  return html`<path
      class="line"
      d="M${units(LEFT)} ${units(upperEdge)}H${units(RIGHT)}M${units(LEFT)} ${units(lowerEdge)}H${units(RIGHT)}"
    />
    ${label(MIDDLE, TOP - 12, 'middle', measured.table, ' %', 'table')}
    ${label(LEFT - 6, (TOP + upperEdge) / 2, 'end', measured.crownAngle, '°', 'crown')}
    ${label(LEFT - 6, lowerEdge + 4, 'end', measured.girdle, ' %', 'girdle')}
    ${label(LEFT + 36, (lowerEdge + end) / 2 + 10, 'end', measured.pavilionAngle, '°', 'pavilion')}
    ${label(RIGHT + 6, (TOP + end) / 2 + 24, 'start', measured.depth, ' %', 'depth')}`
}

function label(x: number, y: number, anchor: string, value: number | undefined, unit: string, name: string): Html {
  if (value === undefined) return NOTHING
  return html`<text x="${units(x)}" y="${units(y)}" text-anchor="${anchor}">${name} ${String(value)}${unit}</text>`
}

const sizeLabel = (x: number, y: number, { length, width, depth }: NonNullable<MeasuredProportions['size']>): Html =>
  html`<text x="${units(x)}" y="${units(y)}" text-anchor="middle"
    >${[length, width, depth].map(mm).join(' × ')} mm</text
  >`

const units = (length: number) => String(Math.round(length * 100) / 100)
