import { z } from 'zod'
import { nearMiss } from '../../domain/dictionaries/nearest.ts'
import { Refusal, type Fault } from '../../domain/refusal.ts'
import type { DiamondFilter, Page } from '../../projections/diamonds/diamond-queries.ts'
import { refuseMany } from '../kit/parameters/count.ts'
import { secondsOf } from './dates.ts'
import type { ApiVersion } from '../../domain/diamond/field.ts'

const LIMIT_DEFAULT = 25
const LIMIT_MAX = 1_000
/** Values of one filter at most. */
const VALUES_MAX = 1_000
/** Two filters may have that many values, and what else there is stands once. */
const PARAMETERS_MAX = 2_500

export type ListQuery = { readonly filter: DiamondFilter; readonly page: Page }

const FLAG = z.enum(['0', '1', 'false', 'true'])
const DATE = z.string().describe('Date and time of ISO 8601 with an offset, such as 20150809T183142+0330')
const LISTED = {
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
  offset: z.coerce.number().int().min(0).default(0),
  'f[id][]': z.array(z.coerce.number().int().min(1)).max(VALUES_MAX).optional(),
  'f[sku][]': z.array(z.string()).max(VALUES_MAX).optional(),
  'f[isColored]': FLAG.optional(),
  'f[dateFrom]': DATE.optional(),
  'f[dateTo]': DATE.optional(),
}

/** What `parseListQuery` reads, for documents. */
export const LIST_QUERY = { v3: z.object({ ...LISTED, 'f[isPublished]': FLAG.optional() }), v4: z.object(LISTED) }

/** Faults by what they are: what can't be parsed is 400, what is parsed and not acceptable 422. */
type Faults = { malformed: Fault[]; invalid: Fault[] }
type Parameters = ReadonlyMap<string, readonly string[]>

/**
 * limit, offset and the f[...] filters of a list.
 * @param search the query string, without its question mark
 * @throws Refusal malformed or invalid, with all that is wrong
 */
export function parseListQuery(version: ApiVersion, search: string): ListQuery {
  if (search === '') return { filter: {}, page: { limit: LIMIT_DEFAULT, offset: 0 } }
  refuseMany(search, PARAMETERS_MAX, 'invalid')
  const parameters = parametersOf(search)
  const faults: Faults = { malformed: [], invalid: [] }
  const page = {
    limit: whole(parameters, 'limit', LIMIT_DEFAULT, { min: 1, max: LIMIT_MAX }, faults),
    offset: whole(parameters, 'offset', 0, { min: 0, max: Number.MAX_SAFE_INTEGER }, faults),
  }
  const filter = filterOf(version, parameters, faults)
  if (faults.malformed.length > 0) throw new Refusal('malformed', [...faults.malformed, ...faults.invalid])
  if (faults.invalid.length > 0) throw new Refusal('invalid', faults.invalid)
  return { filter, page }
}

function parametersOf(search: string): Parameters {
  const parameters = new Map<string, string[]>()
  for (const [given, value] of new URLSearchParams(search)) {
    const name = withoutIndex(given)
    const values = parameters.get(name)
    if (values === undefined) parameters.set(name, [value])
    else values.push(value)
  }
  return parameters
}

/** Some clients number what they repeat: `f[id][0]` is `f[id][]`. */
const withoutIndex = (name: string) => name.replace(/^(f\[(?:id|sku)\])\[\d{1,9}\]$/, '$1[]')

/** What was meant for a parameter and is none; what resembles none may be of use to somebody between. */
function refuseMistyped(parameters: Parameters, known: readonly string[], faults: Faults): void {
  for (const name of parameters.keys()) {
    if (known.includes(name) || IS_FILTER.test(name)) continue
    const meant = nearMiss(name, known)
    if (meant === undefined) continue
    faults.malformed.push({ pointer: name, message: `${name} is no parameter; did you mean ${meant}?` })
  }
}

const IS_FILTER = /^f(?:\[|%5B)/

function filterOf(version: ApiVersion, parameters: Parameters, faults: Faults): DiamondFilter {
  const known = version === 'v3' ? [...FILTERS, 'f[isPublished]'] : FILTERS
  refuseMistyped(parameters, ['limit', 'offset', ...known], faults)
  for (const name of parameters.keys()) {
    if (IS_FILTER.test(name) && !known.includes(name)) {
      faults.invalid.push({
        pointer: name,
        message: `${name.slice(0, 60)} is no filter; there are ${known.join(', ')}`,
      })
    }
  }
  const ids = several(parameters, 'f[id]', faults)?.map((text) => idOf(text, faults))
  const skus = several(parameters, 'f[sku]', faults)?.flatMap(spellingsOf)
  const isColored = flag(parameters, 'f[isColored]', faults)
  const isPublished = version === 'v3' ? flag(parameters, 'f[isPublished]', faults) : undefined
  const from = date(parameters, 'f[dateFrom]', faults)
  const to = date(parameters, 'f[dateTo]', faults)
  return {
    ...(ids !== undefined && { ids }),
    ...(skus !== undefined && { skus }),
    ...(isColored !== undefined && { isColored }),
    ...(isPublished !== undefined && { isPublished }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  }
}

const FILTERS = ['f[id][]', 'f[id]', 'f[sku][]', 'f[sku]', 'f[isColored]', 'f[dateFrom]', 'f[dateTo]']

/** Repeatable filters: `f[id][]=1&f[id][]=2`; the brackets at the end may be left out. */
function several(parameters: Parameters, name: string, faults: Faults): string[] | undefined {
  const values = new Set([...(parameters.get(`${name}[]`) ?? []), ...(parameters.get(name) ?? [])])
  if (values.size > VALUES_MAX) {
    faults.invalid.push({
      pointer: `${name}[]`,
      message: `${name}[] may have at most ${VALUES_MAX} values, got ${values.size}`,
    })
  }
  return values.size === 0 ? undefined : [...values]
}

/** As skus are kept, without blanks around them, and as they were kept once, with them. */
const spellingsOf = (sku: string) => [...new Set([sku.trim(), sku])]

/** A parameter that may stand once. */
function single(parameters: Parameters, name: string, faults: Faults): string | undefined {
  const values = parameters.get(name)
  if (values !== undefined && values.length > 1) {
    faults.malformed.push({ pointer: name, message: `${name} may stand once, it stands ${values.length} times` })
    return undefined
  }
  return values?.[0]
}

type Bounds = { readonly min: number; readonly max: number }

function whole(parameters: Parameters, name: string, unset: number, { min, max }: Bounds, faults: Faults): number {
  const text = single(parameters, name, faults)
  if (text === undefined) return unset
  if (!/^-?\d+$/.test(text)) {
    faults.malformed.push({ pointer: name, message: `${name} must be a whole number, got ${text.slice(0, 40)}` })
    return unset
  }
  const value = Number(text)
  if (value < min || value > max) {
    faults.invalid.push({ pointer: name, message: `${name} must be from ${min} to ${max}, got ${text.slice(0, 40)}` })
  }
  return value
}

function idOf(text: string, faults: Faults): number {
  const id = Number(text)
  if (!/^\d+$/.test(text) || id < 1 || id > Number.MAX_SAFE_INTEGER) {
    const message = `f[id][] must be an integer from 1 to ${Number.MAX_SAFE_INTEGER}, got ${text.slice(0, 40)}`
    faults.invalid.push({ pointer: 'f[id][]', message })
  }
  return id
}

function flag(parameters: Parameters, name: string, faults: Faults): boolean | undefined {
  const text = single(parameters, name, faults)
  if (text === undefined) return undefined
  const small = text.toLowerCase()
  if (small === '1' || small === 'true') return true
  if (small === '0' || small === 'false') return false
  faults.malformed.push({ pointer: name, message: `${name} must be 1, 0, true or false, got ${text.slice(0, 40)}` })
  return undefined
}

function date(parameters: Parameters, name: string, faults: Faults): number | undefined {
  const text = single(parameters, name, faults)
  if (text === undefined) return undefined
  const seconds = secondsOf(text)
  if (seconds === 'malformed') {
    const message = `${name} must be a date-time such as 20150809T183142+0330 or 2015-08-09T18:31:42+03:30, got ${text.slice(0, 40)}`
    faults.malformed.push({ pointer: name, message })
    return undefined
  }
  if (seconds === 'out of range') {
    faults.invalid.push({ pointer: name, message: `${name} is no date of the calendar, got ${text.slice(0, 40)}` })
    return undefined
  }
  return seconds
}
