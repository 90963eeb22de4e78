import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import { short, title, type DictionaryName } from '../../domain/dictionaries/lookup.ts'
import { shapeTitle } from '../../domain/dictionaries/shapes.ts'
import { measuredProportions } from '../../domain/certification/measured.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'

export const shapeName = ({ fields }: LiveDiamond): string =>
  typeof fields.cutShape === 'number' ? shapeTitle(fields.cutShape) : fields.cutShape

/** `1.50 ct Round` */
export const headline = (diamond: LiveDiamond): string => `${diamond.fields.carat.toFixed(2)} ct ${shapeName(diamond)}`

/** What its owner says of the stone, in a reader's order. */
export function factsOf(diamond: LiveDiamond): (readonly [name: string, value: string])[] {
  const { fields } = diamond
  const titled = (dictionary: DictionaryName, id: number | null) => (id === null ? '' : title(dictionary, id))
  const known: (readonly [string, string])[] = [
    ['Shape', shapeName(diamond)],
    ['Weight', `${fields.carat} ct`],
    ['Colour', fields.color === null ? '' : short('color', fields.color)],
    ['Fancy colour', [titled('fancyGrade', fields.fancyGrade), hueOf(diamond)].filter(Boolean).join(' ')],
    ['Clarity', fields.clarity === null ? '' : short('clarity', fields.clarity)],
    ['Cut', titled('cutQuality', fields.cutQuality)],
    ['Polish', titled('polish', fields.polish)],
    ['Symmetry', titled('symmetry', fields.symmetry)],
    ['Fluorescence', [titled('fluorIntensity', fields.fluorIntensity), glowOf(diamond)].filter(Boolean).join(', ')],
    ['Girdle', fields.girdle ?? ''],
    ['Culet', fields.culetSize ?? ''],
    ['Origin', fields.isLabGrown ? 'Laboratory-grown' : 'Natural'],
    ['SKU', fields.sku],
  ]
  return known.filter(([, value]) => value !== '')
}

const hueOf = ({ fields: { colorHue, colorModifier } }: LiveDiamond): string =>
  [colorModifier && title('colorModifier', colorModifier), colorHue && title('colorHue', colorHue)]
    .filter(Boolean)
    .join(' ')

const glowOf = ({ fields: { fluorColor } }: LiveDiamond): string =>
  fluorColor === null || title('fluorColor', fluorColor) === 'None' ? '' : title('fluorColor', fluorColor)

export const list = (facts: readonly (readonly [string, string])[]): Html =>
  html`<dl>
    ${facts.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`

/** Proportions that a report measured: design data, which dataAccess 0 hides. */
export function designSection(diamond: LiveDiamond): Html {
  const { fields } = diamond
  const measured = measuredProportions(diamond)
  if (fields.dataAccess === 0 || measured === undefined) return NOTHING
  const facts = [
    ['Table', `${measured.table} %`],
    ['Depth', `${measured.depth} %`],
    ['Crown angle', `${measured.crownAngle}°`],
    ['Pavilion angle', `${measured.pavilionAngle}°`],
  ] as const
  return html`<section>
    <h2>Measured proportions</h2>
    ${list(facts)}
  </section>`
}
