import { comparisonKey } from '../visible-text.ts'
import { dictionary, gradeDictionary, type Aliases, type DictionaryEntry, type Hue } from './dictionary.ts'

const LETTERS = 'DEFGHIJKLMNOPQRSTUVWXYZ'

/** The GIA's colour scale, D to Z. The platform fixes the ids of D, E, F and G; the others continue them. */
export const color = gradeDictionary(
  'color',
  [...LETTERS].map((letter, index) => ({ id: 15 + index, title: letter, short: letter, position: 10 * (index + 1) })),
)

const grade = (id: number, title: string): DictionaryEntry => ({ id, title, short: title, position: 10 * id })

/**
 * Clarity. The platform fixes ids 1 to 6; the others continue them down the GIA's scale, with EGL's SI3, then the P grades of
 * CIBJO and HRD, whose limits differ from the GIA's I grades. Loupe Clean is CIBJO's single grade for FL and IF, so its
 * position is between them. N: a fancy-coloured diamond without a clarity grade.
 */
const CLARITIES: readonly DictionaryEntry[] = [
  grade(1, 'FL'),
  { id: 16, title: 'Loupe Clean', short: 'LC', position: 15 },
  grade(2, 'IF'),
  grade(3, 'VVS1'),
  grade(4, 'VVS2'),
  grade(5, 'VS1'),
  grade(6, 'VS2'),
  grade(7, 'SI1'),
  grade(8, 'SI2'),
  grade(9, 'SI3'),
  grade(10, 'I1'),
  grade(11, 'I2'),
  grade(12, 'I3'),
  grade(13, 'P1'),
  grade(14, 'P2'),
  grade(15, 'P3'),
  grade(17, 'N'),
]

/** Spellings in trade lists (`VS 1`, `VVS-2`) and in reports (`Flawless`). */
const CLARITY_SPELLINGS: Aliases = {
  FL: ['Flawless'],
  IF: ['Internally Flawless'],
  ...Object.fromEntries(
    CLARITIES.flatMap(({ title }) => {
      const [, letters, digit] = /^([A-Z]+)(\d)$/.exec(title) ?? []
      return digit === undefined ? [] : [[title, [`${letters} ${digit}`, `${letters}-${digit}`]]]
    }),
  ),
}

export const clarity = gradeDictionary('clarity', CLARITIES, CLARITY_SPELLINGS)

const child = (id: number, title: string, short: string, position: number): DictionaryEntry => ({
  id,
  title,
  short,
  position,
})

/**
 * Hues of fancy colours: top level, the ten hues of the platform's table of accepted values; below each, its neighbours. These
 * are the GIA's double hues and the mixtures with brown and gray named in its colour descriptions; a hue in -ish is a modifier
 * plus a hue. The platform fixes ids 11, 20, 22, 23, 24, 30 and 56, and that Red and Black have no children, which is why
 * Purple-Red is below Purple. Ids 12 to 18 complete the top level and Violet, 25 to 57 the children, in order.
 */
const HUES: readonly Hue[] = [
  {
    id: 11,
    title: 'Yellow',
    short: 'Y',
    position: 10,
    children: [
      child(30, 'Green-Yellow', 'GY', 8),
      child(25, 'Orange-Yellow', 'OY', 11),
      child(26, 'Brown-Yellow', 'BrY', 12),
      child(27, 'Gray-Yellow', 'GrY', 13),
    ],
  },
  {
    id: 12,
    title: 'Orange',
    short: 'O',
    position: 20,
    children: [
      child(28, 'Yellow-Orange', 'YO', 21),
      child(29, 'Brown-Orange', 'BrO', 22),
      child(31, 'Pink-Orange', 'PkO', 23),
    ],
  },
  {
    id: 13,
    title: 'Brown',
    short: 'Br',
    position: 30,
    children: [
      child(32, 'Orange-Brown', 'OBr', 31),
      child(33, 'Yellow-Brown', 'YBr', 32),
      child(34, 'Red-Brown', 'RBr', 33),
      child(35, 'Green-Brown', 'GBr', 34),
      child(36, 'Pink-Brown', 'PkBr', 35),
      child(37, 'Gray-Brown', 'GrBr', 36),
    ],
  },
  { id: 20, title: 'Red', short: 'R', position: 40, children: [] },
  {
    id: 14,
    title: 'Pink',
    short: 'Pk',
    position: 50,
    children: [
      child(38, 'Purple-Pink', 'PlPk', 51),
      child(39, 'Orange-Pink', 'OPk', 52),
      child(40, 'Brown-Pink', 'BrPk', 53),
    ],
  },
  {
    id: 15,
    title: 'Purple',
    short: 'Pl',
    position: 60,
    children: [
      child(18, 'Violet', 'V', 61),
      child(41, 'Blue-Violet', 'BV', 62),
      child(42, 'Gray-Violet', 'GrV', 63),
      child(43, 'Pink-Purple', 'PkPl', 64),
      child(44, 'Red-Purple', 'RPl', 65),
      child(45, 'Purple-Red', 'PlR', 66),
    ],
  },
  {
    id: 16,
    title: 'Blue',
    short: 'B',
    position: 70,
    children: [
      child(46, 'Green-Blue', 'GB', 71),
      child(47, 'Violet-Blue', 'VB', 72),
      child(48, 'Gray-Blue', 'GrB', 73),
    ],
  },
  {
    id: 17,
    title: 'Green',
    short: 'G',
    position: 80,
    children: [
      child(49, 'Yellow-Green', 'YG', 81),
      child(50, 'Blue-Green', 'BG', 82),
      child(51, 'Gray-Green', 'GrG', 83),
      child(52, 'Brown-Green', 'BrG', 84),
    ],
  },
  { id: 22, title: 'Black', short: 'Bk', position: 90, children: [] },
  {
    id: 23,
    title: 'Gray',
    short: 'Gr',
    position: 100,
    children: [
      child(56, 'Yellow-Gray', 'YGr', 111),
      child(53, 'Blue-Gray', 'BGr', 112),
      child(54, 'Green-Gray', 'GGr', 113),
      child(55, 'Violet-Gray', 'VGr', 114),
      child(57, 'Brown-Gray', 'BrGr', 115),
      child(24, 'White', 'W', 116),
    ],
  },
]

/** Spellings in the platform's table of accepted values that are not short forms. */
const HUE_SPELLINGS: Aliases = { Brown: ['BN'], Gray: ['GY', 'Grey'], Pink: ['P'] }

export const colorHue = dictionary('colorHue', HUES, HUE_SPELLINGS)

type FancyGrade = DictionaryEntry & { readonly abbreviation: string }

/**
 * The GIA's nine strength grades of fancy colours, in the order of the platform's table of accepted values. The platform fixes
 * the ids of Faint and Very Light and the abbreviations: FT and VL in its dictionary, the others in that table.
 */
const FANCY_GRADES: readonly FancyGrade[] = [
  { id: 8, title: 'Faint', short: 'Faint', abbreviation: 'FT', position: 10 },
  { id: 9, title: 'Very Light', short: 'V.Light', abbreviation: 'VL', position: 20 },
  { id: 10, title: 'Light', short: 'Light', abbreviation: 'L', position: 30 },
  { id: 11, title: 'Fancy Light', short: 'F.Light', abbreviation: 'FCL', position: 40 },
  { id: 12, title: 'Fancy', short: 'Fancy', abbreviation: 'FC', position: 50 },
  { id: 13, title: 'Fancy Dark', short: 'F.Dark', abbreviation: 'FCD', position: 60 },
  { id: 14, title: 'Fancy Intense', short: 'F.Intense', abbreviation: 'I', position: 70 },
  { id: 15, title: 'Fancy Vivid', short: 'F.Vivid', abbreviation: 'FV', position: 80 },
  { id: 16, title: 'Fancy Deep', short: 'F.Deep', abbreviation: 'D', position: 90 },
]

/**
 * Further spellings in the platform's table of accepted values, and in trade lists. FD may be dark or deep, and FY is the grade
 * Fancy with the hue Yellow, so neither is a grade.
 */
const FURTHER_GRADE_SPELLINGS: Aliases = {
  Faint: ['F'],
  'Fancy Light': ['FL'],
  'Fancy Dark': ['Dark', 'FDK'],
  'Fancy Intense': ['Intense', 'Int', 'FI', 'FCI'],
  'Fancy Vivid': ['Vivid', 'V', 'FCV'],
  'Fancy Deep': ['DP', 'Deep', 'FDP', 'FDeep'],
}

/** `Fancy-Vivid`, `Fancy.Vivid` and `FancyVivid`. */
const joinedSpellings = (title: string): readonly string[] =>
  title.includes(' ') ? ['-', '.', '_', ''].map((separator) => title.replaceAll(' ', separator)) : []

const GRADE_SPELLINGS: Aliases = Object.fromEntries(
  FANCY_GRADES.map(({ title, abbreviation }) => [
    title,
    [abbreviation, ...(FURTHER_GRADE_SPELLINGS[title] ?? []), ...joinedSpellings(title)],
  ]),
)

export const fancyGrade = dictionary('fancyGrade', FANCY_GRADES, GRADE_SPELLINGS)

/**
 * Modifiers of the hue: the platform's eleven in its order, then two of the GIA's hue circle that it lacks, then pairs used in
 * the GIA's colour descriptions. The platform's table lists titles only. Short forms: lower case for a tint (`br` Brownish),
 * upper case for a second hue (`Br` Brown). The platform fixes the ids of Brownish and Brown.
 */
export const colorModifier = dictionary('colorModifier', [
  { id: 1, title: 'Brownish', short: 'br', position: 10 },
  { id: 3, title: 'Brown', short: 'Br', position: 20 },
  { id: 4, title: 'Grayish', short: 'gr', position: 30 },
  { id: 5, title: 'Gray', short: 'Gr', position: 40 },
  { id: 6, title: 'Greenish', short: 'g', position: 50 },
  { id: 7, title: 'Pinkish', short: 'pk', position: 60 },
  { id: 8, title: 'Grayish Brownish', short: 'grbr', position: 70 },
  { id: 9, title: 'Purplish', short: 'pl', position: 80 },
  { id: 10, title: 'Yellowish', short: 'y', position: 90 },
  { id: 11, title: 'Orangy', short: 'o', position: 100 },
  { id: 12, title: 'Bluish', short: 'b', position: 110 },
  { id: 13, title: 'Reddish', short: 'r', position: 120 },
  { id: 14, title: 'Violetish', short: 'v', position: 130 },
  { id: 15, title: 'Brownish Greenish', short: 'brg', position: 140 },
  { id: 16, title: 'Brownish Orangy', short: 'bro', position: 150 },
  { id: 17, title: 'Brownish Purplish', short: 'brpl', position: 160 },
  { id: 18, title: 'Brownish Yellowish', short: 'bry', position: 170 },
  { id: 19, title: 'Grayish Bluish', short: 'grb', position: 180 },
  { id: 20, title: 'Grayish Greenish', short: 'grg', position: 190 },
  { id: 21, title: 'Grayish Purplish', short: 'grpl', position: 200 },
  { id: 22, title: 'Grayish Yellowish', short: 'gry', position: 210 },
])

type FancyColor = { readonly fancyGrade: string; readonly colorModifier?: string; readonly colorHue: string }

/** The longest spelling of a grade, in words. */
const GRADE_WORDS = 2

/** Minimum length of a grade in a description: a letter such as `I` is a colour grade there. */
const SHORTEST_GRADE = 2

/** Minimum length of a hue in a description: a short form such as `B` is not a hue there. */
const SHORTEST_WORD = 3

/**
 * The grade, modifier and hue in a GIA colour description such as `Fancy Intense Brownish Yellow` or
 * `Natural, Fancy Light Yellow, Even`, or in a shorter one such as `Vivid Yellow`; undefined for any other text.
 */
export function parseFancyColor(text: string): FancyColor | undefined {
  const description = comparisonKey(text)
    .replace(/^natural,? /, '')
    .replace(/,.*$/, '')
  const words = description.split(' ')
  // More words first: `Fancy Light` must be tried before `Fancy`.
  for (let count = GRADE_WORDS; count > 0; count--) {
    const gradeText = words.slice(0, count).join(' ')
    const grade = gradeText.length < SHORTEST_GRADE ? undefined : fancyGrade.find(gradeText)
    const found = grade === undefined ? undefined : parseHue(words.slice(count))
    if (grade !== undefined && found !== undefined) return { fancyGrade: fancyGrade.title(grade), ...found }
  }
  return undefined
}

/** The modifier, if any, and the hue. */
function parseHue(words: readonly string[]): Omit<FancyColor, 'fancyGrade'> | undefined {
  for (let hueStart = 0; hueStart < words.length; hueStart++) {
    const [modifierText, hue] = [words.slice(0, hueStart).join(' '), words.slice(hueStart).join(' ')]
    const [modifier, id] = [
      colorModifier.find(modifierText),
      hue.length < SHORTEST_WORD ? undefined : colorHue.find(hue),
    ]
    if (id === undefined || (modifierText !== '' && modifier === undefined)) continue
    const optionalModifier = modifier === undefined ? {} : { colorModifier: colorModifier.title(modifier) }
    return { ...optionalModifier, colorHue: colorHue.title(id) }
  }
  return undefined
}
