import { z } from 'zod'
import type { ApiVersion } from '../../domain/diamond/field.ts'
import { FIELDS, type FieldName } from '../../domain/diamond/fields.ts'
import { RequestError, type ErrorDetail } from '../../domain/request-error.ts'
import { visibleText } from '../../domain/visible-text.ts'
import {
  LIST_ATTRIBUTES,
  NEWEST_FIRST,
  parametersOf,
  SORTS,
  type DiamondFilter,
  type FilterName,
  type ListAttribute,
  type FilterRange,
  type Sort,
} from '../../projections/diamonds/list-attributes.ts'
import type { DiamondPageRequest, KeysetCursor } from '../../projections/diamonds/list-plan.ts'
import { V4_FIELDS } from '../../representations/diamond/field-schemas.ts'
import { FIELD_DESCRIPTIONS } from '../../representations/diamond/field-descriptions.ts'
import { jsonExcerpt } from '../../representations/json.ts'
import { mustBe, parsedBy } from '../../representations/parse.ts'
import {
  choice,
  DATE_TIME,
  DATE_TIME_FORM,
  FLAG,
  NUMBER,
  PAGE_QUERY,
  queryReader,
  repeatable,
  type QueryValues,
} from '../kit/parameters/query.ts'

export type ListQuery = { readonly filter: DiamondFilter; readonly page: DiamondPageRequest }

/** Decodes a cursor; undefined if it was not issued for this list and sort order. */
type CursorDecoder = (cursor: string, sort: Sort) => KeysetCursor | undefined

const ID = parsedBy(
  z.string(),
  (text) => {
    const id = Number(text)
    return /^\d+$/.test(text) && id >= 1 && Number.isSafeInteger(id) ? id : undefined
  },
  `an integer from 1 to ${Number.MAX_SAFE_INTEGER}`,
  (text) => (/^-?\d+$/.test(text) ? 'range' : 'format'),
).meta({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** A text as it is stored, and as earlier releases stored it: with invisible characters, and with surrounding white space. */
const spellingsOf = (text: string) => [...new Set([visibleText(text), text.trim(), text])]

/** A filter parameter and the attribute that it filters by; for a range, its `from` or `to`. */
export type FilterParameter = {
  readonly parameter: string
  readonly attribute: ListAttribute
  readonly end?: 'from' | 'to'
  readonly description: string
  /** Parses a text, or a list of texts. */
  readonly schema: z.ZodType
}

const TEXT = z.string(mustBe('a text'))

/** Parses a value as v4 does in a body. Digits are a dictionary id, which is a number there. */
const asField = (name: FieldName) =>
  TEXT.transform((text) => (/^\d{1,15}$/.test(text) ? Number(text) : text)).pipe(
    V4_FIELDS[name] as z.ZodType<unknown, number | string>,
  )

const TEXTS = repeatable(TEXT).transform((list) => list.flatMap(spellingsOf))

function schemaOf({ name, filterKind, field }: ListAttribute): z.ZodType {
  if (name === 'date') return DATE_TIME
  if (filterKind !== 'values') return filterKind === 'flag' ? FLAG : NUMBER
  if (field === undefined) return repeatable(ID)
  if (FIELDS[field].kind === 'text') return TEXTS
  return repeatable(asField(field)).meta({ examples: [[FIELD_DESCRIPTIONS[field].example]] })
}

/** Descriptions of the filters that do not correspond to a field. */
const FILTER_DESCRIPTIONS: Readonly<Partial<Record<FilterName, readonly string[]>>> = {
  id: ['Only diamonds with one of these ids.'],
  date: [`Created at this time or later. ${DATE_TIME_FORM}`, `Created at this time or earlier. ${DATE_TIME_FORM}`],
  hasScores: ['Only diamonds with scores, or without.'],
  integral: ['Minimum `scores.integral.val`.', 'Maximum `scores.integral.val`.'],
  performance: ['Minimum `scores.integral.rg`, the cut performance.', 'Maximum `scores.integral.rg`.'],
}

function describeFilter({ name, filterKind, field }: ListAttribute): readonly string[] {
  const descriptions = FILTER_DESCRIPTIONS[name]
  if (descriptions !== undefined) return descriptions
  if (filterKind === 'range') return [`Minimum \`${name}\`.`, `Maximum \`${name}\`.`]
  if (filterKind === 'flag') return [`Only diamonds with this value of \`${name}\`.`]
  const isText = field !== undefined && FIELDS[field].kind === 'text'
  return [`Only diamonds with one of these values of \`${name}\`${isText ? '' : ', in any accepted input form'}.`]
}

const ENDS = ['from', 'to'] as const

const filtersOf = (version: ApiVersion): readonly FilterParameter[] =>
  LIST_ATTRIBUTES.filter(({ versions }) => versions.includes(version)).flatMap((attribute) =>
    parametersOf(attribute).map((parameter, index) => {
      const description = describeFilter(attribute)[index] ?? ''
      const end = attribute.filterKind === 'range' ? ENDS[index] : undefined
      return { parameter, attribute, description, schema: schemaOf(attribute), ...(end !== undefined && { end }) }
    }),
  )

export const FILTERS = { v3: filtersOf('v3'), v4: filtersOf('v4') }

const parametersFor = (version: ApiVersion) =>
  Object.fromEntries(
    FILTERS[version].map(({ parameter, schema, description }) => [parameter, schema.optional().describe(description)]),
  )

/** The query parameters of v4's filters. */
export const FILTER_QUERY = z.object(parametersFor('v4'))

/** The filter in the parsed values of FILTER_QUERY. */
export const filterFrom = (query: Readonly<Record<string, unknown>>): DiamondFilter => filterIn(FILTERS.v4, query)

/** The name of a sort order in generated clients: `CARAT_DESCENDING`. */
const nameOfSort = (sort: string) =>
  sort.startsWith('-') ? `${sort.slice(1).toUpperCase()}_DESCENDING` : sort.toUpperCase()

const SORT = choice(SORTS)
  .meta({ id: 'DiamondOrder', 'x-enum-varnames': SORTS.map(nameOfSort) })
  .default(NEWEST_FIRST)
  .describe(
    'The sort order: ascending, or descending with a leading `-`. `performance` is `scores.integral.rg`, by which cuts compare whatever ' +
      'their size; `integral` is `scores.integral.val`, which also favours larger stones. Diamonds without the value come last.',
  )

const listQuery = (version: ApiVersion) =>
  z.object({
    limit: PAGE_QUERY.shape.limit.describe('Number of diamonds per page.'),
    offset: PAGE_QUERY.shape.offset.describe('Number of diamonds to skip.'),
    after: z
      .string()
      .optional()
      .describe(
        'Keyset pagination, instead of `offset`: the cursor in the `Link` with rel="next". Empty for the first page.',
      )
      .meta({ examples: [''] }),
    ...(version === 'v4' && { sort: SORT }),
    ...parametersFor(version),
  })

export const LIST_QUERY = { v3: listQuery('v3'), v4: listQuery('v4') }

const READERS = { v3: queryReader(LIST_QUERY.v3), v4: queryReader(LIST_QUERY.v4) }

/**
 * Parses the query of a list: `limit`, `offset` or `after`, `sort`, and the `f[...]` filters.
 * @param search the query string without the question mark
 * @throws RequestError malformed or invalid, with all errors
 */
export function parseListQuery(version: ApiVersion, search: string, decodeCursor: CursorDecoder): ListQuery {
  const query = READERS[version](search, (parameters) => findMisplacedParameters(version, parameters))
  const { limit, offset, after: cursor } = query
  const { sort = NEWEST_FIRST } = query as { readonly sort?: Sort }
  const after = cursor === undefined || cursor === '' ? [] : decodeCursor(cursor, sort)
  if (after === undefined) throw wrongCursor(cursor)
  const page = { limit, offset, ...(cursor !== undefined && { after }), ...(sort !== NEWEST_FIRST && { sort }) }
  return { filter: filterIn(FILTERS[version], query), page }
}

function findMisplacedParameters(version: ApiVersion, parameters: QueryValues): ErrorDetail[] {
  const faults: ErrorDetail[] = []
  if (parameters.has('after') && parameters.has('offset')) {
    const message = 'offset must not be combined with after; send one of them'
    faults.push({ pointer: 'offset', message, code: 'duplicate' })
  }
  if (parameters.has('at')) {
    const message = `at is not supported for lists; it works for a single diamond: GET /${version}/diamond/{id}?at=TIME`
    faults.push({ pointer: 'at', message, code: 'unknown_parameter' })
  }
  return faults
}

function wrongCursor(cursor: unknown): RequestError {
  const message = `after must be empty or a cursor from the Link header of this list in this sort order, got ${jsonExcerpt(cursor)}`
  return new RequestError('malformed', [{ pointer: 'after', message, code: 'format' }])
}

function filterIn(filters: readonly FilterParameter[], query: Readonly<Record<string, unknown>>): DiamondFilter {
  const filter: Record<string, unknown> = {}
  for (const { parameter, attribute, end } of filters) {
    const value = query[parameter]
    if (value === undefined) continue
    const { name } = attribute
    filter[name] = end === undefined ? value : { ...(filter[name] as FilterRange | undefined), [end]: value }
  }
  return filter
}

export const AT_QUERY = z.object({
  at: DATE_TIME.optional().describe(`Returns the diamond as it was at the end of this second. ${DATE_TIME_FORM}`),
})

const readAtQuery = queryReader(AT_QUERY)

/**
 * Parses the `at` parameter.
 * @param now milliseconds since 1970
 * @returns whole seconds since 1970; undefined for the current state
 * @throws RequestError malformed, or invalid if `at` is in the future
 */
export function parseAt(search: string, now: number): number | undefined {
  const { at } = readAtQuery(search)
  if (at === undefined || at <= Math.floor(now / 1000)) return at
  throw new RequestError('invalid', [{ pointer: 'at', message: 'at must not be in the future', code: 'range' }])
}
