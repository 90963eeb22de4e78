import type { FieldName } from '../domain/diamond/fields.ts'
import { comparisonKey } from '../domain/visible-text.ts'

const GRADES: Readonly<Record<string, string>> = {
  exzellent: 'Excellent',
  ausgezeichnet: 'Excellent',
  'sehr gut': 'Very Good',
  gut: 'Good',
  mittel: 'Fair',
  gering: 'Poor',
}

/** English words by German ones in lower case, as in German trade lists and reports. */
const ENGLISH: Readonly<Partial<Record<FieldName, Readonly<Record<string, string>>>>> = {
  cutShape: {
    rund: 'Round',
    brillant: 'Round',
    'runder brillant': 'Round',
    prinzess: 'Princess',
    kissen: 'Cushion',
    smaragd: 'Emerald',
    tropfen: 'Pear',
    herz: 'Heart',
    navette: 'Marquise',
  },
  clarity: { lupenrein: 'Loupe Clean' },
  cutQuality: GRADES,
  polish: GRADES,
  symmetry: GRADES,
  fluorIntensity: {
    keine: 'None',
    schwach: 'Faint',
    mittel: 'Medium',
    stark: 'Strong',
    'sehr stark': 'Very Strong',
  },
  fluorColor: {
    keine: 'None',
    blau: 'Blue',
    gelb: 'Yellow',
    weiß: 'White',
    weiss: 'White',
    rot: 'Red',
    grün: 'Green',
  },
}

/** The English word for a German one, or the text itself. */
export const toEnglish = (name: FieldName, text: string): string => ENGLISH[name]?.[comparisonKey(text)] ?? text
