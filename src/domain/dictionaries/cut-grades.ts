import { gradeDictionary, type Aliases, type DictionaryEntry } from './dictionary.ts'

/**
 * The grades of cut quality, polish and symmetry: the GIA's five, with the Ideal of AGS above them. The platform fixes the ids
 * of Excellent, Very Good and Ideal; the others continue them.
 */
const GRADES: readonly DictionaryEntry[] = [
  { id: 10, title: 'Ideal', short: 'ID', position: 5 },
  { id: 1, title: 'Excellent', short: 'EX', position: 10 },
  { id: 2, title: 'Very Good', short: 'VG', position: 20 },
  { id: 3, title: 'Good', short: 'G', position: 30 },
  { id: 4, title: 'Fair', short: 'F', position: 40 },
  { id: 5, title: 'Poor', short: 'P', position: 50 },
]

/**
 * Sources: the platform's table of accepted values, which has X, V, V. Good and V.G only for polish and symmetry, and RapNet's
 * upload format (GD, FR, PR).
 */
const SPELLINGS: Aliases = {
  Ideal: ['I', 'ID'],
  Excellent: ['EX', 'EXC', 'X'],
  'Very Good': ['VG', 'V', 'V. Good', 'V.Good', 'V Good', 'V.G', 'V.G.'],
  Good: ['G', 'GD'],
  Fair: ['F', 'FR'],
  Poor: ['P', 'PR'],
}

export const cutQuality = gradeDictionary('cutQuality', GRADES, SPELLINGS)
export const polish = gradeDictionary('polish', GRADES, SPELLINGS)
export const symmetry = gradeDictionary('symmetry', GRADES, SPELLINGS)
