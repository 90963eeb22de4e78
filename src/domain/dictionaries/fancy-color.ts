import { dictionary, type Aliases, type Entry } from './dictionary.ts'

export type FancyGrade = Entry & { readonly abbreviation: string }

/**
 * The GIA's nine grades of a fancy colour's strength, in the order of the platform's table of accepted values. Ids of
 * Faint and Very Light are the platform's, and so are the abbreviations: FT and VL from its dictionary, the others from that table.
 */
const GRADES: readonly FancyGrade[] = [
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

/** The platform's table of accepted values, and FT: whoever reads the dictionary may send the abbreviation it shows. */
const SPELLINGS: Aliases = {
  Faint: ['F', 'FT'],
  'Very Light': ['VL'],
  Light: ['L'],
  'Fancy Light': ['FCL', 'FL'],
  Fancy: ['FC'],
  'Fancy Dark': ['FCD'],
  'Fancy Intense': ['I'],
  'Fancy Vivid': ['FV'],
  'Fancy Deep': ['D', 'DP', 'Deep'],
}

export const fancyGrade = dictionary('fancyGrade', GRADES, SPELLINGS)

/**
 * What tints the hue: the platform's eleven in its order, then the two of the GIA's hue circle that it leaves out, then pairs
 * that the GIA's colour descriptions use. Titles only: the platform's table of accepted values has no more. Small letters tint (`br` Brownish), a capital is a second hue (`Br` Brown).
 * Ids of Brownish and Brown are the platform's.
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
