import type { StoneProportions, StoneSize } from '../../domain/diamond/stone-proportions.ts'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { KnownProportions } from '../../domain/diamond/known-proportions.ts'
import { stoneOf } from '../../domain/diamond/scored-stone.ts'
import type { ModelledShape } from '../../optics/cut/cut.ts'
import { possibleCut } from '../../optics/cut/possible-cut.ts'
import { proportionsOf, type Proportions } from '../../optics/cut/proportions.ts'
import { cutOf } from '../../optics/cut/stone.ts'
import { brioletteRings } from '../../optics/shapes/roses.ts'
import type { StoneFact } from '../../representations/diamond/facts.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'

type ProportionName = Exclude<keyof StoneProportions, 'size'>

/** In the usual order of laboratory reports. */
const MEASURES: readonly (readonly [name: ProportionName, label: string, unit: string])[] = [
  ['table', 'Table', ' %'],
  ['depth', 'Depth', ' %'],
  ['crownAngle', 'Crown angle', '°'],
  ['crownHeight', 'Crown height', ' %'],
  ['pavilionAngle', 'Pavilion angle', '°'],
  ['pavilionDepth', 'Pavilion depth', ' %'],
  ['girdle', 'Girdle', ' %'],
  ['star', 'Star length', ' %'],
  ['lower', 'Lower halves', ' %'],
]

/** Known proportions as labelled texts. */
export function proportionFacts(proportions: StoneProportions): readonly StoneFact[] {
  const { size } = proportions
  return [
    ...(size === undefined ? [] : [['Measurements', sizeText(size)] as const]),
    ...MEASURES.flatMap(([name, label, unit]) => {
      const value = proportions[name]
      return value === undefined ? [] : [[label, `${value}${unit}`] as const]
    }),
  ]
}

/** `5.72 × 5.70 × 3.51 mm` */
const sizeText = ({ length, width, depth }: StoneSize): string =>
  `${[length, width, ...(depth === undefined ? [] : [depth])].map((side) => side.toFixed(2)).join(' × ')} mm`

/** In units of the drawing: the width of the stone, and the margins for figures. */
const WIDTH = 200
const SIDE = 76
const TOP = 34
const BOTTOM = 34

/** The figures of a page: those in a report, and those that only the owner states. */
type Figures = { readonly measured: StoneProportions; readonly stated: StoneProportions }

export function figuresOf({ measured = {}, stated = {} }: KnownProportions): Figures {
  const names = Object.keys(stated) as (keyof StoneProportions)[]
  const isMeasured = (name: keyof StoneProportions) =>
    measured[name] !== undefined || measured[ANGLE_OF[name] ?? name] !== undefined
  return {
    measured,
    stated: Object.fromEntries(names.filter((name) => !isMeasured(name)).map((name) => [name, stated[name]])),
  }
}

/** A measured angle stands for the height. */
const ANGLE_OF: { readonly [Name in keyof StoneProportions]?: keyof StoneProportions } = {
  crownHeight: 'crownAngle',
  pavilionDepth: 'pavilionAngle',
}

/**
 * A side view of the stone with the known figures; those of the owner are marked. Parts without a figure are drawn with typical
 * proportions of its shape and grade.
 * @returns NOTHING if the shape has no optical model
 */
export function profileOf(diamond: LiveDiamond, figures: Figures): Html {
  const cut = cutOf(stoneOf(diamond))
  if (cut === null) return NOTHING
  const drawnCut = possibleCut(cut)
  const proportions = proportionsOf(drawnCut)
  const { measured, stated } = figures
  const textOf = (source: string, facts: readonly StoneFact[]) =>
    facts.length === 0 ? [] : [`${source}: ${facts.map(([name, value]) => `${name} ${value}`).join(', ')}`]
  const description = [
    'The stone from the side',
    ...textOf('measured by a laboratory', proportionFacts(measured)),
    ...textOf('stated by its vendor', proportionFacts(stated)),
  ].join('; ')
  return html`<figure class="profile">
    ${drawing(sideOf(cut.shape, proportions), figures, description)}
    <figcaption>
      ${drawnCut === cut ? NOTHING : FIGURES_DISAGREE} ${captionOf(figures)} Parts without a figure are drawn with
      typical proportions.
    </figcaption>
  </figure>`
}

function captionOf({ measured, stated }: Figures): string {
  if (proportionFacts(stated).length === 0) return 'Figures are from the laboratory.'
  return proportionFacts(measured).length === 0
    ? 'Figures are stated by the vendor.'
    : `Figures are from the laboratory, those with${STATED_MARK} are stated by the vendor.`
}

const STATED_MARK = ' *'

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

function drawing({ outline, end, girdle }: StoneProfile, figures: Figures, description: string): Html {
  return html`<svg
    viewBox="0 0 ${units(2 * SIDE + WIDTH)} ${units(end + BOTTOM)}"
    role="img"
    aria-label="${description}"
  >
    <path class="stone" d="M${outline.map(([x, y]) => `${units(x)} ${units(y)}`).join('L')}Z" />
    ${girdle === undefined ? NOTHING : girdleAndLabels(girdle, end, figures)}
    ${label(MIDDLE, end + 24, 'middle', figures, ({ size }) => size && sizeText(size))}
  </svg>`
}

function girdleAndLabels({ upperEdge, lowerEdge }: GirdleEdges, end: number, figures: Figures): Html {
  return html`<path
      class="line"
      d="M${units(LEFT)} ${units(upperEdge)}H${units(RIGHT)}M${units(LEFT)} ${units(lowerEdge)}H${units(RIGHT)}"
    />
    ${label(MIDDLE, TOP - 12, 'middle', figures, ({ table }) => figure('table', table, ' %'))}
    ${label(
      LEFT - 6,
      (TOP + upperEdge) / 2,
      'end',
      figures,
      ({ crownAngle, crownHeight }) => figure('crown', crownAngle, '°') ?? figure('crown', crownHeight, ' %'),
    )}
    ${label(RIGHT + 6, (upperEdge + lowerEdge) / 2, 'start', figures, ({ girdle }) => figure('girdle', girdle, ' %'))}
    ${label(
      LEFT + 36,
      (lowerEdge + end) / 2 + 10,
      'end',
      figures,
      ({ pavilionAngle, pavilionDepth }) =>
        figure('pavilion', pavilionAngle, '°') ?? figure('pavilion', pavilionDepth, ' %'),
    )}
    ${label(RIGHT + 6, (lowerEdge + end) / 2 + 16, 'start', figures, ({ depth }) => figure('depth', depth, ' %'))}`
}

const figure = (name: string, value: number | undefined, unit: string): string | undefined =>
  value === undefined ? undefined : `${name} ${value}${unit}`

/** A figure from the report, or that of the owner: marked if there are figures from a report too. Beside the stone in two lines. */
function label(
  x: number,
  y: number,
  anchor: string,
  { measured, stated }: Figures,
  textOf: (proportions: StoneProportions) => string | undefined,
): Html {
  const measuredText = textOf(measured)
  const text = measuredText ?? textOf(stated)
  if (text === undefined) return NOTHING
  const isMarked = measuredText === undefined && proportionFacts(measured).length > 0
  const lines = anchor === 'middle' ? [text] : text.split(/ (.*)/, 2)
  const spans = lines.map(
    (line, index) => html`<tspan x="${units(x)}" dy="${index === 0 ? '0' : '1.15em'}">${line}</tspan>`,
  )
  return html`<text y="${units(y)}" text-anchor="${anchor}">${spans}${isMarked ? STATED_MARK : ''}</text>`
}

const units = (length: number) => String(Math.round(length * 100) / 100)
