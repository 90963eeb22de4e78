import { LABORATORIES } from './certification.ts'

/**
 * Words that say that a diamond was grown in a laboratory, as the source of a regular expression. HPHT alone may be a treatment,
 * and `not lab-grown` says the opposite.
 */
export const LAB_GROWN_WORDS = String.raw`(?<!\bno[nt]?[- ](?:an? )?)\b(?:cvd|chemical (?:vapor|vapour) deposition|man[- ]made|lab(?:oratory)?[- ]?(?:grown|created|made)|(?:hpht|as)[- ]grown)\b`

/** A report number without the laboratory's name, blanks and dashes, in upper case: `IGI LG 7001-12` is `LG700112`. */
const compactReportNumber = (number: string): string =>
  number
    .replaceAll(/[^0-9a-z]/gi, '')
    .toUpperCase()
    .replace(LABORATORY_PREFIX, '')

const LABORATORY_PREFIX = new RegExp(`^(?:${['AGSL', ...LABORATORIES].join('|')})(?=(?:LG)?\\d)`)

const LAB_GROWN_PREFIX = /^LG(?=\d)/

/** Whether a report is on a laboratory-grown diamond by its number: IGI and others put LG in front. */
export const isLabGrownReportNumber = (number: string): boolean => LAB_GROWN_PREFIX.test(compactReportNumber(number))

/** Equal for spellings of one number: `LG700112233`, `IGI LG700112233` and `700112233`; `6201 947 735` and `GIA 6201947735`. */
export const normaliseReportNumber = (number: string): string =>
  compactReportNumber(number).replace(LAB_GROWN_PREFIX, '')
