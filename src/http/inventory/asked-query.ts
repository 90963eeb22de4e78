/**
 * What a form of filters sends, as the query of a list: fields that were left empty are not asked for, and a day stands for
 * its first second, or its last one where the range ends.
 */
export function queryOf(search: string): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of new URLSearchParams(search)) {
    const given = value.trim()
    if (given === '') continue
    query.append(name, DAY.test(given) ? given + (TIMES[name] ?? '') : value)
  }
  return query
}

const DAY = /^\d{4}-\d\d-\d\d$/

/** By UTC, as lists show it. */
const TIMES: Readonly<Record<string, string>> = { 'f[dateFrom]': 'T00:00:00Z', 'f[dateTo]': 'T23:59:59Z' }
