import type {
  FieldName,
  V4FilterableField,
  FieldSortableAscending,
  FieldSortableBothWays,
} from '../../domain/diamond/fields.ts'

/** What is said about a field to people. */
export type FieldDescription = {
  /** A sentence for the reference. */
  readonly about: string
  /** A value as v4 takes and shows it. */
  readonly example: string | number | boolean
  /**
   * Headings that trade spreadsheets have for it, beside its own name; compared by letters and digits, in any case.
   * Sources: the names that RapNet's reference of upload fields takes, the fields of GIA's Report Results API, Nivoda's file
   * format, the downloads of RapNet and IDEX, the original platform's import, and what shops write.
   */
  readonly headings?: readonly string[]
  /** Headings that may mean something else: they count where no other column is the field. May name the field itself. */
  readonly vague?: readonly string[]
  /** Headings of columns that hold an end of it each; together they are `Thin-Medium`. */
  readonly ends?: readonly string[]
  /** Under what the report page tells it; fields with one label are told together. Absent for what it doesn't tell. */
  readonly label?: string
  /** What /inventory calls the filter by it. */
  readonly filter?: string
  /** What /inventory calls the orders by it: the one from the least, and the one from the greatest. */
  readonly orders?: readonly [fromLeast: string, fromGreatest?: string]
}

/** What the compiler asks for where lists are filtered or ordered by a field. */
type ListFieldDescription<Name extends FieldName> = (Name extends V4FilterableField
  ? Pick<Required<FieldDescription>, 'filter'>
  : unknown) &
  (Name extends FieldSortableBothWays
    ? { readonly orders: readonly [fromLeast: string, fromGreatest: string] }
    : unknown) &
  (Name extends FieldSortableAscending ? { readonly orders: readonly [fromLeast: string] } : unknown)

/** Every field, in the order in which the report page tells them. */
export const FIELD_DESCRIPTIONS = {
  cutShape: {
    about:
      'Cut shape. A text that no dictionary knows is kept as written, has optical scores if a model is known for it (docs/scoring.md), and is Other (113) in v3.',
    example: 'Round',
    headings: ['Shape', 'Shp', 'Cut (Shape)', 'Shape and cutting style', 'Shape & cutting style'],
    label: 'Shape',
    filter: 'Shape',
  },
  carat: {
    about: 'Weight in carats.',
    example: 0.73,
    headings: ['Weight', 'Ct', 'Cts', 'Carats', 'Carat weight', 'Carat size', 'Ct weight', 'Ct size', 'Size', 'Sz'],
    label: 'Weight',
    filter: 'Carat',
    orders: ['Lightest first', 'Heaviest first'],
  },
  color: {
    about: 'Colour grade of a colourless diamond, D to Z.',
    example: 'G',
    headings: ['Colour', 'Col', 'Colr', 'Color grade', 'Colour grade'],
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
    about: "What tints a fancy colour's hue.",
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
    headings: ['Clar', 'Clearity', 'Purity', 'Clarity grade'],
    label: 'Clarity',
    filter: 'Clarity',
  },
  cutQuality: {
    about: 'Grade of the cut.',
    example: 'Excellent',
    headings: ['Cut grade', 'Make (Cut Grade)', 'Make'],
    vague: ['Cut'],
    label: 'Cut grade',
  },
  polish: {
    about: 'Grade of the polish.',
    example: 'Excellent',
    headings: ['Pol'],
    vague: ['Finish'],
    label: 'Polish',
  },
  symmetry: {
    about: 'Grade of the symmetry.',
    example: 'Very Good',
    headings: ['Sym', 'Symm', 'Symetry'],
    label: 'Symmetry',
  },
  fluorIntensity: {
    about: 'How strongly the diamond glows under long-wave ultraviolet.',
    example: 'FNT',
    headings: ['Fluorescence intensity', 'Fluo intensity', 'Flr intensity'],
    vague: ['Fluorescence', 'Fluor', 'Fluo', 'Flr', 'Flo'],
    label: 'Fluorescence',
  },
  fluorColor: {
    about: 'The colour in which it glows.',
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
    about: "The vendor's own number for it. Need not be unique.",
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
    ],
    label: 'SKU',
    filter: 'SKU',
    orders: ['By SKU'],
  },
  price: {
    about: 'In whatever currency the vendor means.',
    example: 4200,
    headings: ['Total price', 'Price total', 'Final price', 'Total amount'],
    vague: ['Price'],
    filter: 'Price',
    orders: ['Lowest price first', 'Highest price first'],
  },
  isColored: {
    about: 'Whether the diamond is graded as fancy-coloured.',
    example: false,
    filter: 'Kind of colour',
  },
  isPublished: { about: 'Whether the diamond is published.', example: true },
  access: {
    about:
      'Who may open the report page: 0 (restricted) anyone who has its signed link, 1 (unlisted) anyone who knows its address, 2 (public) everybody.',
    example: 1,
    headings: ['Share access'],
  },
  dataAccess: {
    about: 'What the report page shows: 0 hides all design data, 1 model and reports, 2 nothing.',
    example: 0,
  },
} satisfies { readonly [Name in FieldName]: FieldDescription & ListFieldDescription<Name> }
