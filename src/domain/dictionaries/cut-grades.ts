import { dictionary, type Aliases, type Entry } from './dictionary.ts'

/**
 * The scale of cut quality, polish and symmetry: the GIA's five grades with the Ideal of AGS above them.
 * Ids of Excellent, Very Good and Ideal are the platform's; the others continue them.
 */
const GRADES: readonly Entry[] = [
  { id: 10, title: 'Ideal', short: 'ID', position: 5 },
  { id: 1, title: 'Excellent', short: 'EX', position: 10 },
  { id: 2, title: 'Very Good', short: 'VG', position: 20 },
  { id: 3, title: 'Good', short: 'G', position: 30 },
  { id: 4, title: 'Fair', short: 'F', position: 40 },
  { id: 5, title: 'Poor', short: 'P', position: 50 },
]

/** Source: the platform's table of accepted values. */
const QUALITY: Aliases = {
  Ideal: ['I', 'ID'],
  Excellent: ['EX', 'EXC'],
  'Very Good': ['VG'],
  Good: ['G'],
  Fair: ['F'],
  Poor: ['P'],
}

/** Polish and symmetry share these; cut quality knows fewer. Source: the platform's table of accepted values. */
const FINISH: Aliases = {
  Ideal: ['I', 'ID'],
  Excellent: ['EX', 'X'],
  'Very Good': ['VG', 'V', 'V. Good', 'V.G'],
  Good: ['G'],
  Fair: ['F'],
  Poor: ['P'],
}

export const cutQuality = dictionary('cutQuality', GRADES, QUALITY)
export const polish = dictionary('polish', GRADES, FINISH)
export const symmetry = dictionary('symmetry', GRADES, FINISH)
