import { InvalidArgumentError } from 'commander'
import { DateTime } from 'luxon'

/** What a text says of time: the first and the last millisecond since 1970 that it may mean. */
export type TimeRange = { readonly from: number; readonly to: number }

/** A day, a minute, a second or a part of one, of ISO 8601, extended form. */
const ISO_TIME_PATTERN =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?<second>:\d{2}(?<fraction>[.,]\d{1,9})?)?(?<offset>Z|[+-]\d{2}:?\d{2})?)?$/i

/**
 * Reads a time of the command line, such as `2026-11-22`, `2026-11-22T10:00Z` or `2026-11-22T10:00:05.250+02:00`. Without
 * an offset it is UTC. A day means all of it, a minute likewise.
 * @throws InvalidArgumentError
 */
export function parseTimeRange(text: string): TimeRange {
  const found = ISO_TIME_PATTERN.exec(text)
  const time = DateTime.fromISO(text.replace(' ', 'T'), { zone: 'utc' })
  if (found === null || !time.isValid) {
    throw new InvalidArgumentError('It must be a time such as 2026-11-22T10:00:00Z, or a day such as 2026-11-22 (UTC).')
  }
  const from = time.toMillis()
  return { from, to: time.plus(precisionOf(text, found.groups ?? {})).toMillis() - 1 }
}

function precisionOf(text: string, { second, fraction }: Readonly<Record<string, string | undefined>>) {
  if (fraction !== undefined) return { milliseconds: 1 }
  if (second !== undefined) return { seconds: 1 }
  return text.includes(':') ? { minutes: 1 } : { days: 1 }
}

/** The first millisecond that a text may mean, for what begins there. @throws InvalidArgumentError */
export const parseSince = (text: string): number => parseTimeRange(text).from

/** The last one, for what ends there: `2026-11-22T10:00:05Z` is the end of that second. @throws InvalidArgumentError */
export const parseUntil = (text: string): number => parseTimeRange(text).to
