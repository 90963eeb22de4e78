import { DateTime } from 'luxon'

/**
 * Date and time of ISO 8601 with an offset, basic or extended in any mixture, with or without seconds and their
 * fractions: `20150809T183142+0330`, `2015-08-09T18:31+03`, `2015-08-09T18:31:42+0330` (PHP's DATE_ISO8601),
 * `+2015-08-09T18:31:42+03:30` (its DATE_ISO8601_EXPANDED).
 */
const FORM =
  /^\+?(\d{4})-?(\d{2})-?(\d{2})T(\d{2}):?(\d{2})(?::?(\d{2})(?:[.,]\d{1,9})?)?(?:Z|([+-])(\d{2})(?::?(\d{2}))?)$/

/**
 * Whole seconds since 1970, UTC.
 * @param text a `+` that arrived as a space is still a `+`
 */
export function secondsOf(text: string): number | 'malformed' | 'out of range' {
  const found = FORM.exec(text.replaceAll(' ', '+'))
  if (found === null) return 'malformed'
  const [, year, month, day, hour, minute, second = '00', sign = '+', hours = '00', minutes = '00'] = found
  const time = DateTime.fromISO(`${year}-${month}-${day}T${hour}:${minute}:${second}${sign}${hours}:${minutes}`)
  if (!time.isValid || Number(hours) > 23 || Number(minutes) > 59) return 'out of range'
  return Math.floor(time.toSeconds())
}
