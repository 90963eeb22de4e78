import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import { DICTIONARIES, type DictionaryName, type ProportionField } from '../../domain/diamond/fields.ts'
import { culetSizeTitle, parseGirdleRange } from '../../domain/dictionaries/girdle-and-culet.ts'
import { shapeTitle } from '../../domain/dictionaries/shapes.ts'
import { reportPageLink } from '../../representations/diamond/diamond-json.ts'
import type { LinkBuilder } from '../../representations/json.ts'
import type { CsvCell } from './csv-line.ts'
import { exportedReport } from './exported-report.ts'

/** A value of a stone as portals write it. */
export type PortalCell = (stone: LiveDiamond, links: LinkBuilder) => CsvCell

/** The title of a grade. */
export const word =
  (name: DictionaryName): PortalCell =>
  ({ fields: { [name]: id } }) =>
    id === null ? null : DICTIONARIES[name].title(id)

export const number =
  (name: ProportionField | 'carat'): PortalCell =>
  ({ fields }) =>
    fields[name]

export const stockNumber: PortalCell = ({ fields }) => fields.sku

export const shape: PortalCell = ({ fields: { cutShape } }) =>
  typeof cutShape === 'number' ? shapeTitle(cutShape) : cutShape

/** Of a range the thinnest, then the thickest. */
export const girdleEnd =
  (end: 0 | 1): PortalCell =>
  ({ fields: { girdle } }) =>
    (girdle === null ? undefined : parseGirdleRange(girdle)?.[end]) ?? null

export const culet: PortalCell = ({ fields: { culetSize } }) => (culetSize === null ? null : culetSizeTitle(culetSize))

export const laboratory: PortalCell = (stone) => exportedReport(stone).laboratory
export const reportNumber: PortalCell = (stone) => exportedReport(stone).number
export const reportPage: PortalCell = reportPageLink

/** With two decimals, so that a point is no separator of thousands. A price of 0 means none in the trade. */
export const totalPrice: PortalCell = ({ fields: { price } }) =>
  price === null || price === 0 ? null : Number(price.toFixed(2)) === price ? price.toFixed(2) : price

export const pricePerCarat =
  (decimals: number): PortalCell =>
  ({ fields: { price, carat } }) =>
    price === null || price === 0 ? null : (price / carat).toFixed(decimals)

/** `6.44 x 6.41 x 3.98`. An import reads nothing from a length without a width. */
export const measurements: PortalCell = ({ fields }) => {
  const [length, width, height] = [
    fields['proportions.length'],
    fields['proportions.width'],
    fields['proportions.height'],
  ]
  if (length === null || width === null) return null
  return [length, width, ...(height === null ? [] : [height])].join(' x ')
}

export const labGrown: PortalCell = ({ fields }) => (fields.isLabGrown ? 'Lab Grown' : null)
