import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { LinkBuilder } from '../../representations/json.ts'
import { escapeFormula } from '../sheet-cell.ts'
import { csvLine } from './csv-line.ts'
import {
  culet,
  girdleEnd,
  labGrown,
  laboratory,
  measurements,
  number,
  pricePerCarat,
  reportNumber,
  reportPage,
  shape,
  stockNumber,
  totalPrice,
  word,
  type PortalCell,
} from './portal-cells.ts'

/**
 * RapNet's upload file. Sources: its references of fields and values (technet.rapaport.com/Info/LotUpload/FieldsAndValues.aspx;
 * help.rapnet.com, "RapNet Diamond Fields & Values", "Pricing issues when uploading diamonds": prices are per carat in whole
 * dollars). RapNet ignores the last two columns: the price of the stone, which an import reads, and the report page.
 */
export const RAPNET_TABLE = portalTable({
  'Stock #': stockNumber,
  Shape: shape,
  Weight: number('carat'),
  Color: word('color'),
  'Fancy Color': word('colorHue'),
  'Fancy Color Intensity': word('fancyGrade'),
  'Fancy Color Overtone': word('colorModifier'),
  Clarity: word('clarity'),
  'Cut Grade': word('cutQuality'),
  Polish: word('polish'),
  Symmetry: word('symmetry'),
  'Fluorescence Intensity': word('fluorIntensity'),
  'Fluorescence Color': word('fluorColor'),
  Measurements: measurements,
  Lab: laboratory,
  'Certificate #': reportNumber,
  'RapNet Price': pricePerCarat(0),
  'Depth %': number('proportions.depth'),
  'Table %': number('proportions.table'),
  'Girdle Thin': girdleEnd(0),
  'Girdle Thick': girdleEnd(1),
  'Girdle %': number('proportions.girdle'),
  'Culet Size': culet,
  'Crown Height': number('proportions.crownHeight'),
  'Crown Angle': number('proportions.crownAngle'),
  'Pavilion Depth': number('proportions.pavilionDepth'),
  'Pavilion Angle': number('proportions.pavilionAngle'),
  'Star Length': number('proportions.star'),
  'Total Price': totalPrice,
  'Diamond URL': reportPage,
})

/**
 * IDEX's file. Source: the headings of its feeds of natural and laboratory-grown diamonds (api.idexonline.com/Onsite/FullFeed,
 * format_20220525_basis; api.idexonline.com/Onsite/LabGrownFullFile, format_lg_20221130). `Cut` is the shape.
 */
export const IDEX_TABLE = portalTable({
  'Supplier Stock Ref': stockNumber,
  Cut: shape,
  Carat: number('carat'),
  Color: word('color'),
  'Natural Fancy Color': word('colorHue'),
  'Natural Fancy Color Intensity': word('fancyGrade'),
  'Natural Fancy Color Overtone': word('colorModifier'),
  Clarity: word('clarity'),
  'Make (Cut Grade)': word('cutQuality'),
  'Grading Lab': laboratory,
  'Certificate Number': reportNumber,
  'Online Report': reportPage,
  'Price Per Carat': pricePerCarat(2),
  'Total Price': totalPrice,
  Polish: word('polish'),
  Symmetry: word('symmetry'),
  'Measurements Length': number('proportions.length'),
  'Measurements Width': number('proportions.width'),
  'Measurements Height': number('proportions.height'),
  Depth: number('proportions.depth'),
  Table: number('proportions.table'),
  'Crown Height': number('proportions.crownHeight'),
  'Crown Angle': number('proportions.crownAngle'),
  'Pavilion Depth': number('proportions.pavilionDepth'),
  'Pavilion Angle': number('proportions.pavilionAngle'),
  'Girdle From': girdleEnd(0),
  'Girdle To': girdleEnd(1),
  'Culet Size': culet,
  'Fluorescence Intensity': word('fluorIntensity'),
  'Fluorescence Color': word('fluorColor'),
  Enhancement: labGrown,
})

/** Columns of a portal in their order, by its headings. */
type PortalColumns = Readonly<Record<string, PortalCell>>

/** A portal's file: its header, and the line of a stone. */
type PortalTable = {
  readonly header: string
  readonly row: (stone: LiveDiamond, links: LinkBuilder) => string
}

function portalTable(columns: PortalColumns): PortalTable {
  const cells = Object.values(columns)
  return {
    header: csvLine(Object.keys(columns), escapeFormula),
    row: (stone, links) =>
      csvLine(
        cells.map((cell) => cell(stone, links)),
        escapeFormula,
      ),
  }
}
