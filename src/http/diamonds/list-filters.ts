import { z, type ZodType } from 'zod'
import { nearMiss } from '../../domain/dictionaries/nearest.ts'
import {
  ADDED_FILTERS,
  NEWEST_FIRST,
  SORTS,
  type AddedFilter,
  type DiamondFilter,
  type Range,
  type Sort,
} from '../../projections/diamonds/list-query.ts'
import { READERS } from '../../representations/diamond/readers.ts'
import { WORDS } from '../../representations/diamond/words.ts'
import { FLAG, flag, number, several, single, VALUES_MAX, type Faults, type Parameters } from './parameters.ts'

const NAMES = Object.keys(ADDED_FILTERS) as AddedFilter[]

/** What is said about each of v4's own filters in documents. */
const SAID: Readonly<Record<AddedFilter, string>> = {
  cutShape: 'Of one of these cut shapes, in any form that input takes.',
  color: 'Of one of these colours, in any form that input takes.',
  clarity: 'Of one of these clarities, in any form that input takes.',
  isLabGrown: 'Whose isLabGrown is so.',
  carat: 'Of that carat',
  price: 'Of that price',
  hasScores: 'That have scores, or have none.',
  integral: 'Whose scores.integral.val is that',
}

type Declared = readonly (readonly [parameter: string, schema: ZodType])[]

/** How a filter stands in a query. */
function declaredOf(name: AddedFilter): Declared {
  const said = SAID[name]
  switch (ADDED_FILTERS[name]) {
    case 'values': {
      const example = name in WORDS ? [String(WORDS[name as keyof typeof WORDS].example)] : []
      const schema = z
        .array(z.string())
        .max(VALUES_MAX)
        .optional()
        .describe(said)
        .meta({ examples: [example] })
      return [[`f[${name}][]`, schema]]
    }
    case 'flag':
      return [[`f[${name}]`, FLAG.optional().describe(said)]]
    case 'range':
      return [
        [`f[${name}From]`, z.coerce.number().optional().describe(`${said} or more.`)],
        [`f[${name}To]`, z.coerce.number().optional().describe(`${said} or less.`)],
      ]
  }
}

/** `CARAT_DESCENDING`: the name of an order in generated clients. */
const nameOfSort = (sort: string) =>
  sort.startsWith('-') ? `${sort.slice(1).toUpperCase()}_DESCENDING` : sort.toUpperCase()

/** For documents: v4's own filters, and its orders. */
export const ADDED_QUERY: Readonly<Record<string, ZodType>> = Object.fromEntries([
  [
    'sort',
    z
      .enum(SORTS)
      .meta({ id: 'DiamondOrder', 'x-enum-varnames': SORTS.map(nameOfSort) })
      .default(NEWEST_FIRST)
      .describe('The order: of what, from the least, or behind a - from the greatest. What has no value comes last.'),
  ],
  ...NAMES.flatMap(declaredOf),
])

/** Those that may stand several times, whose brackets may have a number. */
export const REPEATED = NAMES.filter((name) => ADDED_FILTERS[name] === 'values')

/** Every parameter that is a filter of v4's own. */
export const ADDED_PARAMETERS: readonly string[] = [
  ...NAMES.flatMap((name) => declaredOf(name).map(([parameter]) => parameter)),
  ...REPEATED.map((name) => `f[${name}]`),
]

export function addedFilters(parameters: Parameters, faults: Faults): Pick<DiamondFilter, AddedFilter> {
  const read = NAMES.map((name) => [name, filterOf(name, parameters, faults)] as const)
  return Object.fromEntries(read.filter(([, value]) => value !== undefined))
}

function filterOf(name: AddedFilter, parameters: Parameters, faults: Faults) {
  switch (ADDED_FILTERS[name]) {
    case 'values':
      return several(parameters, `f[${name}]`, faults)?.flatMap((text) => valueOf(name, text, faults))
    case 'flag':
      return flag(parameters, `f[${name}]`, faults)
    case 'range':
      return rangeOf(name, parameters, faults)
  }
}

/** As v4 reads the field in a body; digits are an id there, and numbers come as texts here. */
function valueOf(name: AddedFilter, text: string, faults: Faults): (number | string)[] {
  const found = READERS.v4.get(name)?.(/^\d{1,15}$/.test(text) ? Number(text) : text)
  if (found !== undefined && 'value' in found) return [found.value as number | string]
  faults.invalid.push({ pointer: `f[${name}][]`, message: `f[${name}][] ${found?.problem ?? 'is not read'}` })
  return []
}

function rangeOf(name: AddedFilter, parameters: Parameters, faults: Faults): Range | undefined {
  const from = number(parameters, `f[${name}From]`, faults)
  const to = number(parameters, `f[${name}To]`, faults)
  if (from === undefined && to === undefined) return undefined
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

/** The order that is asked for; undefined for the usual one. */
export function sortIn(parameters: Parameters, faults: Faults): Sort | undefined {
  const text = single(parameters, 'sort', faults)
  if (text === undefined) return undefined
  const known = SORTS.find((sort) => sort === text)
  if (known !== undefined) return known
  const meant = nearMiss(text, SORTS)
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  faults.invalid.push({
    pointer: 'sort',
    message: `sort must be one of ${SORTS.join(', ')}, got ${text.slice(0, 40)}${hint}`,
  })
  return undefined
}
