import { InvalidArgumentError } from 'commander'
import { DateTime } from 'luxon'

/** First and last millisecond since 1970, inclusive. */
type TimeRange = { readonly from: number; readonly to: number }

/** ISO 8601 extended format, with a precision of a day, a minute, a second or a fraction of a second. */
const ISO_TIME_PATTERN =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?<second>:\d{2}(?<fraction>[.,]\d{1,9})?)?(?<offset>Z|[+-]\d{2}:?\d{2})?)?$/i

/**
 * Parses a time such as `2026-11-22`, `2026-11-22T10:00Z` or `2026-11-22T10:00:05.250+02:00`. Without an offset it is UTC.
 * A day or a minute means all of it.
 * @throws InvalidArgumentError
 */
export function parseTimeRange(text: string): TimeRange {
  const match = ISO_TIME_PATTERN.exec(text)
  const time = DateTime.fromISO(text.replace(' ', 'T'), { zone: 'utc' })
  if (match === null || !time.isValid) {
    throw new InvalidArgumentError(
      'It must be a time such as 2026-11-22T10:00:00Z, or a date such as 2026-11-22 (UTC).',
    )
  }
  const from = time.toMillis()
  return { from, to: time.plus(precisionOf(text, match.groups ?? {})).toMillis() - 1 }
}

function precisionOf(text: string, { second, fraction }: Readonly<Record<string, string | undefined>>) {
  if (fraction !== undefined) return { milliseconds: 1 }
  if (second !== undefined) return { seconds: 1 }
  return text.includes(':') ? { minutes: 1 } : { days: 1 }
}

/** Start of the time, in milliseconds since 1970. @throws InvalidArgumentError */
export const parseSince = (text: string): number => parseTimeRange(text).from

/** End of the time: for `2026-11-22T10:00:05Z`, the last millisecond of that second. @throws InvalidArgumentError */
export const parseUntil = (text: string): number => parseTimeRange(text).to
