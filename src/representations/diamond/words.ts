import type { FieldName } from '../../domain/diamond/fields.ts'

/** What is said about a field to people. */
export type Words = {
  /** A sentence for the reference. */
  readonly about: string
  /** A value as v4 takes and shows it. */
  readonly example: string | number | boolean
  /**
   * Headings that trade spreadsheets have for it, beside its own name; compared by letters and digits, in any case.
   * Sources: the names that RapNet's reference of upload fields takes, the fields of GIA's Report Results API, and what
   * shops write.
   */
  readonly headings?: readonly string[]
  /** Headings of columns that hold an end of it each; together they are `Thin-Medium`. */
  readonly ends?: readonly string[]
  /** Under what the report page tells it; fields with one label are told together. Absent for what it doesn't tell. */
  readonly label?: string
}

/** Every field, in the order in which the report page tells them. */
export const WORDS = {
  cutShape: {
    about:
      'Cut shape. A text that no dictionary knows is kept as written, has optical scores if a model is known for it (docs/scoring.md), and is Other (113) in v3.',
    example: 'Round',
    headings: ['Shape', 'Shp', 'Shape and cutting style', 'Shape & cutting style'],
    label: 'Shape',
  },
  carat: {
    about: 'Weight in carats.',
    example: 0.73,
    headings: ['Weight', 'Size', 'Sz', 'Ct', 'Cts', 'Carats', 'Carat weight', 'Carat size', 'Ct weight', 'Ct size'],
    label: 'Weight',
  },
  color: {
    about: 'Colour grade of a colourless diamond, D to Z.',
    example: 'G',
    headings: ['Colour', 'Col', 'Colr', 'Color grade', 'Colour grade'],
    label: 'Colour',
  },
  fancyGrade: {
    about: "Strength of a fancy-coloured diamond's colour.",
    example: 'Fancy Intense',
    headings: ['Fancy color intensity', 'Fancy colour intensity', 'Fancy intensity'],
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
    ],
    label: 'Fancy colour',
  },
  colorHue: {
    about: 'Hue of a fancy colour.',
    example: 'Yellow',
    headings: ['Fancy color', 'Fancy colour', 'Fancy color dominant color', 'Hue'],
    label: 'Fancy colour',
  },
  clarity: {
    about: 'Clarity grade.',
    example: 'VS2',
    headings: ['Clar', 'Clearity', 'Purity', 'Clarity grade'],
    label: 'Clarity',
  },
  cutQuality: { about: 'Grade of the cut.', example: 'Excellent', headings: ['Cut', 'Cut grade'], label: 'Cut grade' },
  polish: { about: 'Grade of the polish.', example: 'Excellent', headings: ['Pol', 'Finish'], label: 'Polish' },
  symmetry: {
    about: 'Grade of the symmetry.',
    example: 'Very Good',
    headings: ['Sym', 'Symm', 'Symetry'],
    label: 'Symmetry',
  },
  fluorIntensity: {
    about: 'How strongly the diamond glows under long-wave ultraviolet.',
    example: 'FNT',
    headings: [
      'Fluorescence',
      'Fluorescence intensity',
      'Fluor',
      'Fluor intensity',
      'Fluo intensity',
      'Flr',
      'Flr intensity',
    ],
    label: 'Fluorescence',
  },
  fluorColor: {
    about: 'The colour in which it glows.',
    example: 'B',
    headings: ['Fluorescence color', 'Fluorescence colour', 'Fluo color', 'Flr color'],
    label: 'Fluorescence',
  },
  girdle: {
    about: 'Thickness of the girdle: a grade, or a range of two.',
    example: 'Thin-Medium',
    headings: ['Girdle thickness'],
    ends: ['Girdle thin', 'Girdle thick', 'Girdle min', 'Girdle max'],
    label: 'Girdle',
  },
  culetSize: { about: 'Size of the culet.', example: 'N', headings: ['Culet'], label: 'Culet' },
  isLabGrown: {
    about: 'Whether the diamond was grown in a laboratory.',
    example: false,
    headings: ['Lab grown'],
    label: 'Origin',
  },
  sku: {
    about: "The vendor's own number for it. Need not be unique.",
    example: 'MSSRBC13',
    headings: [
      'Stock #',
      'Stock number',
      'Stock no',
      'Stock num',
      'Vendor stock number',
      'Vender stock number',
      'Reference number',
      'Reference num',
    ],
    label: 'SKU',
  },
  price: { about: 'In whatever currency the vendor means.', example: 4200, headings: ['Total price'] },
  isColored: { about: 'Whether the diamond is graded as fancy-coloured.', example: false },
  isPublished: { about: 'Whether the diamond is published.', example: true },
  access: {
    about:
      'Who may open the report page: 0 (restricted) whoever has its signed link, 1 (unlisted) whoever knows its address, 2 (public) everybody.',
    example: 1,
  },
  dataAccess: {
    about: 'What the report page shows: 0 hides all design data, 1 model and reports, 2 nothing.',
    example: 0,
  },
} satisfies Readonly<Record<FieldName, Words>>
