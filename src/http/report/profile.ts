import type { MeasuredProportions } from '../../domain/certification/measured.ts'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import { stoneOf } from '../../domain/diamond/scored-stone.ts'
import { possibleCut } from '../../domain/scoring/cut/possible.ts'
import { proportionsOf, type Proportions } from '../../domain/scoring/cut/proportions.ts'
import { cutOf } from '../../domain/scoring/cut/stone.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import { measuredFacts, mm } from './measures.ts'

/** In the units of the drawing: the stone's width, and the room for figures around it. */
const WIDTH = 200
const SIDE = 70
const TOP = 34
const BOTTOM = 34

/**
 * The stone from its shorter side, with the figures that a report measured; a part that nobody measured has none, and is
 * drawn as a typical stone of its shape and grade has it. NOTHING of a shape without a model.
 */
export function profileOf(diamond: LiveDiamond, measured: MeasuredProportions): Html {
  const cut = cutOf(stoneOf(diamond))
  if (cut === null) return NOTHING
  const possible = possibleCut(cut)
  const proportions = proportionsOf(possible)
  const said = measuredFacts(measured)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
  return html`<figure class="profile">
    ${drawing(proportions, measured, `The stone from the side: ${said}`)}
    <figcaption>
      ${possible === cut ? NOTHING : FIGURES_DISAGREE} Figures are the laboratory's. What has none is drawn as a typical
      stone has it.
    </figcaption>
  </figure>`
}

const FIGURES_DISAGREE = html`<strong
  >These figures can not all be true of one stone, so a typical one is drawn.</strong
>`

function drawing(proportions: Proportions, measured: MeasuredProportions, said: string): Html {
  const { table, crownHeight, girdle, pavilionDepth, culet } = proportions
  const [left, right, middle] = [SIDE, SIDE + WIDTH, SIDE + WIDTH / 2]
  const edge = TOP + crownHeight * WIDTH
  const under = edge + girdle * WIDTH
  const end = under + pavilionDepth * WIDTH * (1 - culet)
  const [tableHalf, culetHalf] = [(table * WIDTH) / 2, (culet * WIDTH) / 2]
  const outline = [
    [middle - tableHalf, TOP],
    [middle + tableHalf, TOP],
    [right, edge],
    [right, under],
    [middle + culetHalf, end],
    [middle - culetHalf, end],
    [left, under],
    [left, edge],
  ] as const
  return html`<svg viewBox="0 0 ${units(2 * SIDE + WIDTH)} ${units(end + BOTTOM)}" role="img" aria-label="${said}">
    <path class="stone" d="M${outline.map(([x, y]) => `${units(x)} ${units(y)}`).join('L')}Z" />
    <path
      class="line"
      d="M${units(left)} ${units(edge)}H${units(right)}M${units(left)} ${units(under)}H${units(right)}"
    />
    ${label(middle, TOP - 12, 'middle', measured.table, ' %', 'table')}
    ${label(left - 6, (TOP + edge) / 2, 'end', measured.crownAngle, '°', 'crown')}
    ${label(left - 6, under + 4, 'end', measured.girdle, ' %', 'girdle')}
    ${label(left + 36, (under + end) / 2 + 10, 'end', measured.pavilionAngle, '°', 'pavilion')}
    ${label(right + 6, (TOP + end) / 2 + 24, 'start', measured.depth, ' %', 'depth')}
    ${measured.size === undefined ? NOTHING : sizeLabel(middle, end + 24, measured.size)}
  </svg>`
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
