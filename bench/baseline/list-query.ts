import type { ParsedUrlQuery } from 'node:querystring'
import { Invalid } from './input.ts'
import type { Filters } from './stones.ts'

export type ListQuery = { readonly filters: Filters; readonly limit: number; readonly offset: number }

/** @throws Invalid */
export function readListQuery(query: ParsedUrlQuery): ListQuery {
  const isColored = one(query, 'f[isColored]')
  const dateFrom = one(query, 'f[dateFrom]')
  const dateTo = one(query, 'f[dateTo]')
  return {
    filters: {
      ids: all(query, 'f[id][]').map((text) => integer(text, 'f[id][]', 1, Number.MAX_SAFE_INTEGER)),
      skus: all(query, 'f[sku][]'),
      ...(isColored !== undefined && { isColored: isColored === '1' || isColored === 'true' }),
      ...(dateFrom !== undefined && { dateFrom: seconds(dateFrom, 'f[dateFrom]') }),
      ...(dateTo !== undefined && { dateTo: seconds(dateTo, 'f[dateTo]') }),
    },
    limit: integer(one(query, 'limit') ?? '25', 'limit', 1, 1000),
    offset: integer(one(query, 'offset') ?? '0', 'offset', 0, Number.MAX_SAFE_INTEGER),
  }
}

function all(query: ParsedUrlQuery, name: string): string[] {
  const value = query[name]
  return value === undefined ? [] : Array.isArray(value) ? value : [value]
}

const one = (query: ParsedUrlQuery, name: string) => all(query, name)[0]

function integer(text: string, name: string, min: number, max: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < min || value > max)
    throw invalid(name, `must be a whole number from ${min} to ${max}`)
  return value
}

/** `20050809T183142+0330` */
function seconds(text: string, name: string): number {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)[+ -](\d\d)(\d\d)$/.exec(text)
  if (!match) throw invalid(name, 'must be a date-time such as 20050809T183142+0330')
  const [, year, month, day, hour, minute, second, offsetHour, offsetMinute] = match
  const sign = text.includes('-') ? '-' : '+'
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${sign}${offsetHour}:${offsetMinute}`) / 1000
}

const invalid = (name: string, problem: string) => new Invalid([{ pointer: name, message: `${name} ${problem}` }])
