import { dictionary, type Aliases, type Entry, type Hue } from './dictionary.ts'

const child = (id: number, title: string, short: string, position: number): Entry => ({ id, title, short, position })

/**
 * Hues of fancy colours: at the top the ten of the platform's table of accepted values, below each its neighbours. Those are the
 * GIA's double hues and the mixtures with brown and gray that its colour descriptions name; a hue in -ish is a
 * modifier and a hue. The platform's own: 11, 20, 22, 23, 24, 30 and 56, and that Red and Black have no children, which
 * is why Purple-Red stands under Purple. Ids 12 to 18 fill the top and its Violet, 25 to 57 the children, in order.
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

/** Source: the platform's table of accepted values. */
const SPELLINGS: Aliases = {
  Black: ['BK'],
  Blue: ['B'],
  Brown: ['BN'],
  Gray: ['GY', 'Grey'],
  Green: ['G'],
  Orange: ['O'],
  Pink: ['P'],
  Purple: ['PL'],
  Red: ['R'],
  Yellow: ['Y'],
}

export const colorHue = dictionary('colorHue', HUES, SPELLINGS)
