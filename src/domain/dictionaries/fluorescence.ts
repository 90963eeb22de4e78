import { dictionary, gradeDictionary, type Aliases, type DictionaryEntry } from './dictionary.ts'

/**
 * The GIA's five grades of fluorescence under long-wave ultraviolet. The platform fixes ids 1 and 2; the short forms are those of
 * its page on scores (NON, FNT, MED, STR, V STR).
 */
const INTENSITIES: readonly DictionaryEntry[] = [
  { id: 1, title: 'None', short: 'NON', position: 10 },
  { id: 2, title: 'Faint', short: 'FNT', position: 20 },
  { id: 3, title: 'Medium', short: 'MED', position: 30 },
  { id: 4, title: 'Strong', short: 'STR', position: 40 },
  { id: 5, title: 'Very Strong', short: 'V STR', position: 50 },
]

/**
 * Sources: the platform's table of accepted values; RapNet's upload format and HRD's reports, which have Slight and Very Slight
 * (SLT, VSL) instead of Faint; AGS's reports, which have Inert.
 */
const INTENSITY_SPELLINGS: Aliases = {
  None: ['N', 'NON', 'No', 'NIL', 'FL0', 'Inert'],
  Faint: ['F', 'FNT', 'Negligible', 'FA', 'FL1', 'Slight', 'SLT', 'SL', 'Very Slight', 'VSL', 'VSLT'],
  Medium: ['M', 'MED', 'FL2'],
  Strong: ['S', 'STG', 'ST', 'FL3'],
  'Very Strong': ['VS', 'VST', 'VSTG', 'FL4'],
}

export const fluorIntensity = gradeDictionary('fluorIntensity', INTENSITIES, INTENSITY_SPELLINGS)

/**
 * Fluorescence colours. The platform fixes the ids of None (7) and Blue (1); its table of accepted values has six colours before
 * None, which have ids 1 to 6 in its order.
 */
const COLORS: readonly DictionaryEntry[] = [
  { id: 7, title: 'None', short: 'N', position: 0 },
  { id: 1, title: 'Blue', short: 'B', position: 10 },
  { id: 2, title: 'White', short: 'W', position: 20 },
  { id: 3, title: 'Yellow', short: 'Y', position: 30 },
  { id: 4, title: 'Orange', short: 'O', position: 40 },
  { id: 5, title: 'Red', short: 'R', position: 50 },
  { id: 6, title: 'Green', short: 'G', position: 60 },
]

/** The platform's table of accepted values lists BG as a spelling of Green. */
const COLOR_SPELLINGS: Aliases = {
  None: ['N', 'NIL', 'NON'],
  Blue: ['B', 'BL'],
  White: ['W', 'WH'],
  Yellow: ['Y', 'YL'],
  Orange: ['O', 'OR'],
  Red: ['R'],
  Green: ['G', 'BG'],
}

export const fluorColor = dictionary('fluorColor', COLORS, COLOR_SPELLINGS)
