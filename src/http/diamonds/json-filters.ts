import { z } from 'zod'
import type { FeedFilters } from '../../domain/feed/feed.ts'
import type { DiamondFilter, ListAttribute } from '../../projections/diamonds/list-attributes.ts'
import { DIAMOND_ID, mustBe, objectSchema } from '../../representations/parse.ts'
import { FLAG, isList, queryReader, repeatable } from '../kit/parameters/query.ts'
import { filterFrom, FILTERS, type FilterParameter } from './list-query.ts'

type JsonFilter = FilterParameter & {
  /** `caratFrom` for the query parameter `f[caratFrom]`. */
  readonly name: string
  readonly jsonSchema: z.ZodType<FeedFilters[string]>
}

const isNumber = ({ name, filterKind }: ListAttribute) => filterKind === 'range' && name !== 'date'

/** The filters of v4's list as members of a JSON object. */
const JSON_FILTERS: readonly JsonFilter[] = FILTERS.v4.map((filter) => ({
  ...filter,
  name: filter.parameter.replaceAll(/^f\[|\]\[\]$|\]$/g, ''),
  jsonSchema: jsonSchemaOf(filter),
}))

/**
 * In JSON, numbers, true and false are no texts; everything else is as in the query. The schema changes nothing: filters are
 * stored and returned as they were sent.
 */
function jsonSchemaOf({ attribute, schema }: FilterParameter): z.ZodType<FeedFilters[string]> {
  if (attribute.filterKind === 'flag') return z.boolean(mustBe('true or false'))
  if (isNumber(attribute)) return z.number(mustBe('a number such as 1.2'))
  if (attribute.name === 'id') return repeatable(DIAMOND_ID)
  const text = z.string(mustBe('a text'))
  const texts: z.ZodType<string | readonly string[]> = isList(schema) ? repeatable(text) : text
  return texts.check(({ value, issues }) => {
    if (issues.length > 0) return
    const { error } = schema.safeParse(value, { reportInput: true })
    issues.push(...((error?.issues ?? []) as z.core.$ZodRawIssue[]))
  })
}

/** The same filters as in the query of v4's list: `{"cutShape": ["Pear"], "caratFrom": 1}`. */
export const JSON_FILTERS_SCHEMA = objectSchema(
  Object.fromEntries(
    JSON_FILTERS.map(({ name, jsonSchema, description }) => [name, jsonSchema.exactOptional().describe(description)]),
  ),
  'filters',
  '{"cutShape": ["Pear"], "caratFrom": 1}',
).meta({ id: 'Filters' })

/** @throws Error for filters that JSON_FILTERS_SCHEMA rejects */
export const filterOfJson = (filters: FeedFilters): DiamondFilter =>
  filterFrom(
    Object.fromEntries(
      JSON_FILTERS.map(({ name, parameter, attribute, schema }) => {
        const value = filters[name]
        return [parameter, value === undefined || attribute.name === 'id' ? value : schema.parse(value)]
      }),
    ),
  )

/** The query of v4's list with the same filters. */
export const queryOfJson = (filters: FeedFilters): URLSearchParams =>
  new URLSearchParams(
    JSON_FILTERS.flatMap(({ name, parameter }) =>
      [filters[name] ?? []].flat().map((value): [string, string] => [parameter, textOf(value)]),
    ),
  )

/** As the form of the inventory page sends it. */
const textOf = (value: string | number | boolean): string => String(typeof value === 'boolean' ? Number(value) : value)

const readTexts = queryReader(
  z.object(
    Object.fromEntries(
      JSON_FILTERS.map(({ parameter, schema }) => [
        parameter,
        (isList(schema) ? repeatable(z.string()) : z.string()).optional(),
      ]),
    ),
  ),
)

/**
 * The filters of a query of v4's list as JSON.
 * @param search without the question mark
 * @throws RequestError malformed or invalid for unknown and repeated parameters
 */
export function jsonOfQuery(search: string): FeedFilters {
  const texts = readTexts(search)
  return Object.fromEntries(
    JSON_FILTERS.flatMap(({ name, parameter, attribute }) => {
      const value = texts[parameter]
      return value === undefined ? [] : [[name, jsonValueOf(attribute, value)] as const]
    }),
  )
}

function jsonValueOf(attribute: ListAttribute, value: string | readonly string[]): FeedFilters[string] {
  if (typeof value !== 'string') return attribute.name === 'id' ? value.map(Number) : value
  if (isNumber(attribute)) return Number(value)
  return attribute.filterKind === 'flag' ? FLAG.parse(value) : value
}
