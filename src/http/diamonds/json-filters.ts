import { z } from 'zod'
import type { FeedFilters } from '../../domain/feed/feed.ts'
import type { DiamondFilter, ListAttribute } from '../../projections/diamonds/list-attributes.ts'
import { DIAMOND_ID, mustBe, objectSchema } from '../../representations/parse.ts'
import { isList, queryReader, repeatable } from '../kit/parameters/query.ts'
import { FILTER_QUERY, filterFrom, FILTERS, type FilterParameter } from './list-query.ts'

type JsonFilter = FilterParameter & {
  /** `caratFrom` for the query parameter `f[caratFrom]`. */
  readonly name: string
  readonly jsonSchema: z.ZodType<FeedFilters[string]>
}

/** Whether JSON has the texts of the query; otherwise numbers, true and false. */
const isText = ({ name, filterKind }: ListAttribute) => name === 'date' || (filterKind === 'values' && name !== 'id')

/** The filters of v4's list as members of a JSON object. */
const JSON_FILTERS: readonly JsonFilter[] = FILTERS.v4.map((filter) => ({
  ...filter,
  name: filter.parameter.replaceAll(/^f\[|\]\[\]$|\]$/g, ''),
  jsonSchema: jsonSchemaOf(filter),
}))

/** It changes nothing: filters are stored and returned as they were sent. */
function jsonSchemaOf({ attribute, schema }: FilterParameter): z.ZodType<FeedFilters[string]> {
  if (attribute.name === 'id') return repeatable(DIAMOND_ID)
  if (attribute.filterKind === 'flag') return z.boolean(mustBe('true or false'))
  if (!isText(attribute)) return z.number(mustBe('a number such as 1.2'))
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
        return [parameter, value !== undefined && isText(attribute) ? schema.parse(value) : value]
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

const readValues = queryReader(FILTER_QUERY)

/** The same parameters, each as it was sent. */
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
 * @throws RequestError malformed or invalid, with all errors
 */
export function jsonOfQuery(search: string): FeedFilters {
  const values = readValues(search) as FeedFilters
  const texts = readTexts(search)
  return Object.fromEntries(
    JSON_FILTERS.flatMap(({ name, parameter, attribute }) => {
      const value = isText(attribute) ? texts[parameter] : values[parameter]
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
}
