import { gradeDictionary, type Aliases, type Entry } from './dictionary.ts'

const LETTERS = 'DEFGHIJKLMNOPQRSTUVWXYZ'

/** The colourless scale of the GIA, D to Z. Ids of D, E, F and G are the platform's; the others continue them. */
export const color = gradeDictionary(
  'color',
  [...LETTERS].map((letter, index) => ({ id: 15 + index, title: letter, short: letter, position: 10 * (index + 1) })),
)

/** One grade of clarity whose title is its short form. */
const grade = (id: number, title: string): Entry => ({ id, title, short: title, position: 10 * id })

/**
 * Clarity. Ids 1 to 6 are the platform's; the others continue them down the GIA's scale, with EGL's SI3, then the P of
 * CIBJO and HRD, which differ from the GIA's I in their limits. Loupe Clean is CIBJO's one grade for FL and IF together,
 * so it stands between them. N: a fancy-coloured stone without a grade.
 */
const CLARITIES: readonly Entry[] = [
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

/** As trade lists write them: `VS 1`, `VVS-2`, and reports: `Flawless`. */
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
