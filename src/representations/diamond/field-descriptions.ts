import type {
  FieldName,
  V4FilterableField,
  FieldSortableAscending,
  FieldSortableBothWays,
} from '../../domain/diamond/fields.ts'

export type FieldDescription = {
  /** A sentence for the API reference. */
  readonly about: string
  /** An example value in v4 form. */
  readonly example: string | number | boolean
  /**
   * Column headings for the field in trade spreadsheets, in addition to its name. Compared case-insensitively by
   * letters and digits. Sources: RapNet's reference of upload fields, GIA's Report Results API, Nivoda's file format,
   * downloads of RapNet and IDEX, the original platform's import, and shops.
   */
  readonly headings?: readonly string[]
  /** Ambiguous headings. They are used only if no other column matches the field. May include the field's own name. */
  readonly vague?: readonly string[]
  /** Headings of columns that each hold one end of a range; combined, for example, to `Thin-Medium`. */
  readonly ends?: readonly string[]
  /** On the report page. Fields with the same label are shown together. Fields without a label are not shown. */
  readonly label?: string
  readonly filter?: string
  /** On /inventory: ascending, then descending. */
  readonly orders?: readonly [fromLeast: string, fromGreatest?: string]
}

/** Requires labels for fields that lists can be filtered or sorted by. */
type ListFieldDescription<Name extends FieldName> = (Name extends V4FilterableField
  ? Pick<Required<FieldDescription>, 'filter'>
  : unknown) &
  (Name extends FieldSortableBothWays
    ? { readonly orders: readonly [fromLeast: string, fromGreatest: string] }
    : unknown) &
  (Name extends FieldSortableAscending ? { readonly orders: readonly [fromLeast: string] } : unknown)

/** All fields, in the order of the report page. */
export const FIELD_DESCRIPTIONS = {
  cutShape: {
    about:
      'Cut shape. A name outside the dictionary is stored as written, gets optical scores if there is a model for it (docs/scoring.md), and is Other (113) in v3.',
    example: 'Round',
    headings: [
      'Shape',
      'Shp',
      'Cut (Shape)',
      'Shape and cutting style',
      'Shape & cutting style',
      'Form',
      'Schliffform',
    ],
    label: 'Shape',
    filter: 'Shape',
  },
  carat: {
    about: 'Weight in carats.',
    example: 0.73,
    headings: [
      'Weight',
      'Wt',
      'Ct',
      'Cts',
      'Crt',
      'Carats',
      'Carat weight',
      'Carat size',
      'Ct weight',
      'Ct size',
      'Size',
      'Sz',
      'Gewicht',
      'Karat',
    ],
    label: 'Weight',
    filter: 'Carat',
    orders: ['Lightest first', 'Heaviest first'],
  },
  color: {
    about: 'Colour grade of a colourless diamond, D to Z.',
    example: 'G',
    headings: ['Colour', 'Col', 'Colr', 'Color grade', 'Colour grade', 'Farbe'],
    label: 'Colour',
    filter: 'Colour',
  },
  fancyGrade: {
    about: "Strength of a fancy-coloured diamond's colour.",
    example: 'Fancy Intense',
    headings: [
      'Fancy color intensity',
      'Fancy colour intensity',
      'Fancy intensity',
      'Natural fancy color intensity',
      'Natural fancy colour intensity',
    ],
    label: 'Fancy colour',
  },
  colorModifier: {
    about: "Modifier of a fancy colour's hue.",
    example: 'Brownish',
    headings: [
      'Fancy color overtone',
      'Fancy colour overtone',
      'Fancy color overtones',
      'Fancy colour overtones',
      'Fancy overtone',
      'Natural fancy color overtone',
      'Natural fancy colour overtone',
    ],
    label: 'Fancy colour',
  },
  colorHue: {
    about: 'Hue of a fancy colour.',
    example: 'Yellow',
    headings: [
      'Fancy color',
      'Fancy colour',
      'Fancy color dominant color',
      'Natural fancy color',
      'Natural fancy colour',
      'Hue',
    ],
    label: 'Fancy colour',
  },
  clarity: {
    about: 'Clarity grade.',
    example: 'VS2',
    headings: ['Clar', 'Clearity', 'Purity', 'Clarity grade', 'Reinheit'],
    label: 'Clarity',
    filter: 'Clarity',
  },
  cutQuality: {
    about: 'Grade of the cut.',
    example: 'Excellent',
    headings: ['Cut grade', 'Make (Cut Grade)', 'Make', 'Schliffgüte'],
    vague: ['Cut', 'Schliff'],
    label: 'Cut grade',
  },
  polish: {
    about: 'Grade of the polish.',
    example: 'Excellent',
    headings: ['Pol', 'Politur'],
    vague: ['Finish'],
    label: 'Polish',
  },
  symmetry: {
    about: 'Grade of the symmetry.',
    example: 'Very Good',
    headings: ['Sym', 'Symm', 'Symetry', 'Symmetrie'],
    label: 'Symmetry',
  },
  fluorIntensity: {
    about: 'Strength of the fluorescence under long-wave ultraviolet light.',
    example: 'FNT',
    headings: ['Fluorescence intensity', 'Fluo intensity', 'Flr intensity'],
    vague: ['Fluorescence', 'Fluor', 'Fluo', 'Flr', 'Flo', 'Fls', 'Fl', 'Fluoreszenz'],
    label: 'Fluorescence',
  },
  fluorColor: {
    about: 'Colour of the fluorescence.',
    example: 'B',
    headings: ['Fluorescence color', 'Fluorescence colour', 'Fluo color', 'Flr color', 'Flo col'],
    label: 'Fluorescence',
  },
  girdle: {
    about: 'Thickness of the girdle: a grade, or a range of two.',
    example: 'Thin-Medium',
    headings: ['Girdle thickness'],
    ends: ['Girdle thin', 'Girdle thick', 'Girdle min', 'Girdle max', 'Girdle from', 'Girdle to'],
    label: 'Girdle',
  },
  culetSize: { about: 'Size of the culet.', example: 'N', vague: ['Culet'], label: 'Culet' },
  isLabGrown: {
    about: 'Whether the diamond was grown in a laboratory.',
    example: false,
    headings: ['Lab grown', 'Natural/lab grown'],
    vague: ['Growth type', 'Stone type', 'Diamond type', 'Product type', 'Type'],
    label: 'Origin',
    filter: 'Origin',
  },
  sku: {
    about: "The vendor's stock number. Need not be unique.",
    example: 'MSSRBC13',
    headings: [
      'Stock #',
      'Stock number',
      'Stock no',
      'Stock num',
      'Stock ID',
      'Stock',
      'Supplier stock ref.',
      'Vendor stock #',
      'Vendor stock number',
      'Vender stock number',
      'Reference number',
      'Reference num',
      'Lagernummer',
      'Artikelnummer',
    ],
    vague: [
      'Packet',
      'Packet no',
      'Packet number',
      'Packet ID',
      'Stone ID',
      'Stone no',
      'Stone number',
      'Lot #',
      'Lot no',
      'Lot number',
      'Ref',
      'Ref no',
      'Reference',
    ],
    label: 'SKU',
    filter: 'SKU',
    orders: ['By SKU'],
  },
  price: {
    about: "Price in the vendor's currency.",
    example: 4200,
    headings: [
      'Total price',
      'Price total',
      'Final price',
      'Total amount',
      'Total sales price',
      'Total',
      'Amount',
      'Amt',
      'Total value',
      'Gesamtpreis',
    ],
    vague: ['Price', 'Sale price', 'Sales price', 'Selling price', 'Asking price', 'Preis', '$'],
    filter: 'Price',
    orders: ['Lowest price first', 'Highest price first'],
  },
  isColored: {
    about: 'Whether the diamond is graded as fancy-coloured.',
    example: false,
    filter: 'Kind of colour',
  },
  isPublished: { about: 'Whether the diamond is published.', example: true },
  'proportions.length': {
    about: 'Length in millimetres; of a round one of its diameters.',
    example: 6.44,
    headings: ['Length', 'Measurements length', 'Max diameter', 'Maximum diameter', 'Länge'],
  },
  'proportions.width': {
    about: 'Width in millimetres; of a round one of its diameters.',
    example: 6.41,
    headings: ['Width', 'Measurements width', 'Min diameter', 'Minimum diameter', 'Breite'],
  },
  'proportions.height': {
    about: 'Height of the whole stone in millimetres.',
    example: 3.98,
    headings: ['Height', 'Measurements height', 'Höhe'],
  },
  'proportions.table': {
    about: 'Table in percent of the mean diameter or the width.',
    example: 57,
    headings: ['Table', 'Table width', 'Table size', 'Tab', 'Tbl', 'Tafel'],
  },
  'proportions.depth': {
    about: 'Total depth in percent of the mean diameter or the width.',
    example: 61.9,
    headings: ['Depth %', 'Total depth', 'Dep %', 'TD', 'Gesamttiefe', 'Tiefe %'],
    vague: ['Depth', 'Dep', 'Tiefe'],
  },
  'proportions.girdle': {
    about: 'Girdle thickness in percent of the mean diameter or the width, where main facets meet it.',
    example: 3.5,
    headings: ['Girdle %', 'Girdle thickness %', 'Gir %'],
  },
  'proportions.crownHeight': {
    about: 'Crown height in percent of the mean diameter or the width; used where crownAngle is missing.',
    example: 15,
    headings: ['Crown height', 'Crown ht', 'Cr height', 'Cr ht', 'CH'],
  },
  'proportions.pavilionDepth': {
    about: 'Pavilion depth in percent of the mean diameter or the width; used where pavilionAngle is missing.',
    example: 43,
    headings: ['Pavilion depth', 'Pavilion height', 'Pav depth', 'Pav height', 'Pav ht', 'PD', 'PH'],
  },
  'proportions.star': {
    about: "Star length in percent of the way from the table's edge to the girdle.",
    example: 50,
    headings: ['Star length', 'Star ln', 'Star'],
  },
  'proportions.lower': {
    about: 'Length of the lower halves in percent of the way from the girdle to the culet.',
    example: 80,
    headings: ['Lower half', 'Lower halves', 'Lower half length', 'Lower girdle', 'Lr half', 'LH'],
  },
  'proportions.crownAngle': {
    about: 'Crown angle in degrees.',
    example: 34.5,
    headings: ['Crown angle', 'Crown ang', 'Cr angle', 'Cr ang', 'CA', 'Kronenwinkel'],
  },
  'proportions.pavilionAngle': {
    about: 'Pavilion angle in degrees.',
    example: 40.8,
    headings: ['Pavilion angle', 'Pavilion ang', 'Pav angle', 'Pav ang', 'PA', 'Pavillonwinkel'],
  },
  access: {
    about:
      'Who may open the report page: 0 (restricted) anyone with the signed link, 1 (unlisted) anyone who knows the URL, 2 (public) everyone.',
    example: 1,
    headings: ['Share access'],
  },
  dataAccess: {
    about: 'What the report page hides: 0 all design data, 1 the model and reports, 2 nothing.',
    example: 0,
  },
} satisfies { readonly [Name in FieldName]: FieldDescription & ListFieldDescription<Name> }
