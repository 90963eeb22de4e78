/**
 * Columns of trade files without a corresponding field: they are ignored, and the printed mapping says so. A price per carat
 * is not the price of the stone. Each row has the headings of one column, or of similar ones.
 * Sources: RapNet's reference of upload fields, the fields of GIA's Report Results API, Nivoda's file format, the downloads of
 * RapNet and IDEX, and stock lists of wholesalers.
 */
export const PRICES_PER_CARAT = splitHeadings([
  'PPC|Rate|Carat price|Ct price|Karatpreis',
  'RapNet price|RapNet discount price',
  'Cash price|Cash price per carat',
])

/** Before a name of the weight, in lower case: `Price/Ct`, `Rate per carat`. */
export const PER_CARAT_PREFIXES: readonly string[] = [
  'per',
  ...['price', 'cost', 'rate', 'value', 'rap', 'raprate', 'preis'].flatMap((price) => [
    price,
    `${price}per`,
    `${price}pro`,
  ]),
]

/** Rapaport's list prices. */
const LIST_PRICES = splitHeadings(['Rap|Rap price|Rap rate|Rap list', 'Index price|Index asking price'])

/** With one of these columns, a price may be that of the stone or per carat. */
export const DISCOUNTS = splitHeadings([
  'RapNet discount %|RapNet discount',
  'Cash price discount %|Cash discount %',
  'Index discount percent',
  'Discount|Discount %|% discount|Discount percent|Disc|Disc %|% disc',
  'Rap %|% Rap|Rap discount|Rap discount %|Rap disc|Rap disc %',
  'Off %|% off|Back %|% back',
])

const REPORT = splitHeadings([
  'Lab location|Report issue location',
  'Certificate filename|Certificate file name|Certificate PDF|Cert file|Report filename|Report file',
  'Certificate URL|Certificate link|Cert link|Certificate path|Online report|Online report URL',
  'Certificate comment|Cert comment|Report comments',
  'Report date|Report issue date',
  'Report type',
  'Inscription|Inscriptions|Laser inscription',
  'Key to symbols|Clarity characteristics',
])

/** `Crown` and `Pavilion` may be angles or heights. */
const PROPORTIONS = splitHeadings([
  'Ratio|L/W|L/W ratio|LW ratio|Length to width ratio|Length/width ratio',
  'Crown',
  'Pavilion',
  'Girdle condition',
  'Culet condition',
])

const APPEARANCE = splitHeadings([
  'BGM|Shade|Brown|Green|Milky|Luster',
  'Eye clean',
  'Black inclusion|White inclusion|Center inclusion|Open inclusion',
  'Color origin|Colour origin',
  'Color distribution|Colour distribution',
  // Cut, polish and symmetry together
  '3EX|3X|Triple EX',
])

const SALE = splitHeadings([
  'Item ID|Item ID #|RapNet lot #|Diamond ID',
  'Seller|Seller name|Seller code|Vendor|Vendor name|Supplier|Supplier name',
  'Brand',
  'City|State|Country|Location',
  'Origin country|Mine of origin|Canada Mark eligible',
  'Member comment|Member comments|Comment|Comments|Remark|Remarks|Note|Notes|Seller spec',
  'Pair|Pair stock #|Pair stock ref.|Is matched pair separable|Pair separable',
  'Trade show',
  'Allow RapLink feed|RapLink',
  'Image|Image link|Image URL|Diamond image',
  'Video|Video link|Video URL|Diamond video',
  'Diamond URL',
])

export const WITHOUT_FIELD: readonly string[] = [
  ...PRICES_PER_CARAT,
  ...LIST_PRICES,
  ...DISCOUNTS,
  ...REPORT,
  ...PROPORTIONS,
  ...APPEARANCE,
  ...SALE,
]

/** The headings of rows such as `Lab|Laboratory`. */
export function splitHeadings(rows: readonly string[]): readonly string[] {
  return rows.flatMap((row) => row.split('|'))
}
