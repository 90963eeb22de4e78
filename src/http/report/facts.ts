import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import { measuredProportions } from '../../domain/certification/measured.ts'
import { shapeName, type Fact } from '../../representations/diamond/facts.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'

/** `1.50 ct Round` */
export const headline = ({ fields }: LiveDiamond): string => `${fields.carat.toFixed(2)} ct ${shapeName(fields)}`

export const list = (facts: readonly Fact[]): Html =>
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
