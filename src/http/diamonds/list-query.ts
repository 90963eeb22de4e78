import { z } from 'zod'
import { findNearMiss } from '../../domain/dictionaries/edit-distance.ts'
import type { ApiVersion } from '../../domain/diamond/field.ts'
import { FIELDS, type FieldName } from '../../domain/diamond/fields.ts'
import { RequestError, type ErrorDetail } from '../../domain/decider.ts'
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
import { parsedBy } from '../../representations/parse.ts'
import {
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

/** Reads a cursor of a list; undefined for what is none of it. */
export type CursorDecoder = (cursor: string, sort: Sort) => KeysetCursor | undefined

const ID = parsedBy(
  z.string(),
  (text) => {
    const id = Number(text)
    return /^\d+$/.test(text) && id >= 1 && Number.isSafeInteger(id) ? id : undefined
  },
  `an integer from 1 to ${Number.MAX_SAFE_INTEGER}`,
).meta({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** As texts are stored, and as earlier releases stored them: with characters that nobody sees, and with blanks around them. */
const spellingsOf = (text: string) => [...new Set([visibleText(text), text.trim(), text])]

/** A parameter that filters, and the member of a filter that it is read to; of a range, which end of it. */
type FilterParameter = {
  readonly parameter: string
  readonly schema: z.ZodType
  readonly member: FilterName
  readonly end?: 'from' | 'to'
}

/** As v4 reads a field in a body; digits are an id there, and numbers come as texts here. */
const asField = (name: FieldName) =>
  z
    .string()
    .transform((text) => (/^\d{1,15}$/.test(text) ? Number(text) : text))
    .pipe(V4_FIELDS[name] as z.ZodType<unknown, number | string>)

const TEXTS = repeatable(z.string()).transform((list) => list.flatMap(spellingsOf))

/** What a member's parameters take: values may stand several times, all else once. */
function schemaOf({ name, filterKind, field }: ListAttribute): z.ZodType {
  if (name === 'date') return DATE_TIME
  if (filterKind !== 'values') return filterKind === 'flag' ? FLAG : NUMBER
  if (field === undefined) return repeatable(ID)
  if (FIELDS[field].kind === 'text') return TEXTS
  return repeatable(asField(field)).meta({ examples: [[FIELD_DESCRIPTIONS[field].example]] })
}

/** What is said about members that are no fields. */
const FILTER_DESCRIPTIONS: Readonly<Partial<Record<FilterName, readonly string[]>>> = {
  id: ['Of these ids.'],
  date: [`Created then or later. ${DATE_TIME_FORM}`, `Created then or before. ${DATE_TIME_FORM}`],
  hasScores: ['That have scores, or have none.'],
  integral: ['Whose scores.integral.val is that or more.', 'Whose scores.integral.val is that or less.'],
}

function describeFilter({ name, filterKind, field }: ListAttribute): readonly string[] {
  const about = FILTER_DESCRIPTIONS[name]
  if (about !== undefined) return about
  if (filterKind === 'range') return [`Whose ${name} is that or more.`, `Whose ${name} is that or less.`]
  if (filterKind === 'flag') return [`Whose ${name} is so.`]
  const isText = field !== undefined && FIELDS[field].kind === 'text'
  return [`Whose ${name} is one of these${isText ? '' : ', in any form that input takes'}.`]
}

const ENDS = ['from', 'to'] as const

const filtersOf = (version: ApiVersion): readonly FilterParameter[] =>
  LIST_ATTRIBUTES.filter(({ versions }) => versions.includes(version)).flatMap((member) =>
    parametersOf(member).map((parameter, at) => {
      const schema = schemaOf(member)
        .optional()
        .describe(describeFilter(member)[at] ?? '')
      const end = member.filterKind === 'range' ? ENDS[at] : undefined
      return { parameter, schema, member: member.name, ...(end !== undefined && { end }) }
    }),
  )

const FILTERS = { v3: filtersOf('v3'), v4: filtersOf('v4') }

/** `CARAT_DESCENDING`: the name of an order in generated clients. */
const nameOfSort = (sort: string) =>
  sort.startsWith('-') ? `${sort.slice(1).toUpperCase()}_DESCENDING` : sort.toUpperCase()

const SORT = z
  .enum(SORTS, {
    error: ({ input }) => {
      const meant = findNearMiss(String(input), SORTS)
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`
      return `must be one of ${SORTS.join(', ')}, got ${jsonExcerpt(input)}${hint}`
    },
  })
  .meta({ id: 'DiamondOrder', 'x-enum-varnames': SORTS.map(nameOfSort) })
  .default(NEWEST_FIRST)
  .describe('The order: of what, from the least, or behind a - from the greatest. What has no value comes last.')

const listQuery = (version: ApiVersion) =>
  z.object({
    limit: PAGE_QUERY.shape.limit.describe('Diamonds on a page.'),
    offset: PAGE_QUERY.shape.offset.describe('Diamonds before the page.'),
    after: z
      .string()
      .optional()
      .describe(
        'Instead of offset: the cursor that Link gave with rel="next", which begins behind it. Empty for the first page.',
      )
      .meta({ examples: [''] }),
    ...(version === 'v4' && { sort: SORT }),
    ...Object.fromEntries(FILTERS[version].map(({ parameter, schema }) => [parameter, schema])),
  })

/** The queries of lists. */
export const LIST_QUERY = { v3: listQuery('v3'), v4: listQuery('v4') }

const READERS = { v3: queryReader(LIST_QUERY.v3), v4: queryReader(LIST_QUERY.v4) }

/**
 * limit, offset or after, sort, and the f[...] filters of a list.
 * @param search the query string, without its question mark
 * @throws Refusal malformed or invalid, with all that is wrong
 */
export function parseListQuery(version: ApiVersion, search: string, decodeCursor: CursorDecoder): ListQuery {
  const query = READERS[version](search, (given) => findMisplacedParameters(version, given))
  const { limit, offset, after: cursor } = query
  const { sort = NEWEST_FIRST } = query as { readonly sort?: Sort }
  const after = cursor === undefined || cursor === '' ? [] : decodeCursor(cursor, sort)
  if (after === undefined) throw wrongCursor(cursor)
  const page = { limit, offset, ...(cursor !== undefined && { after }), ...(sort !== NEWEST_FIRST && { sort }) }
  return { filter: filterIn(FILTERS[version], query), page }
}

/** Parameters that can't stand here, or not together. */
function findMisplacedParameters(version: ApiVersion, given: QueryValues): ErrorDetail[] {
  const faults: ErrorDetail[] = []
  if (given.has('after') && given.has('offset')) {
    const message = 'after begins behind a place, and offset counts from the first diamond: send one of them'
    faults.push({ pointer: 'offset', message })
  }
  if (given.has('at')) {
    const message = `at shows one diamond as it was: GET /${version}/diamond/{id}?at=TIME; a list is as it is now`
    faults.push({ pointer: 'at', message })
  }
  return faults
}

function wrongCursor(cursor: unknown): RequestError {
  const message = `after must be a cursor that Link gave for this list in this order, or empty, got ${jsonExcerpt(cursor)}`
  return new RequestError('malformed', [{ pointer: 'after', message }])
}

function filterIn(filters: readonly FilterParameter[], query: Readonly<Record<string, unknown>>): DiamondFilter {
  const filter: Record<string, unknown> = {}
  for (const { parameter, member, end } of filters) {
    const value = query[parameter]
    if (value === undefined) continue
    filter[member] = end === undefined ? value : { ...(filter[member] as FilterRange | undefined), [end]: value }
  }
  return filter
}

/** The query of one diamond. */
export const AT_QUERY = z.object({
  at: DATE_TIME.optional().describe(`As it was at the end of that second. ${DATE_TIME_FORM}`),
})

const readAtQuery = queryReader(AT_QUERY)

/**
 * The time that a diamond is asked for by `at`, in whole seconds since 1970; undefined for as it is now.
 * @param now milliseconds since 1970: what is later has not happened
 * @throws Refusal malformed or invalid
 */
export function parseAt(search: string, now: number): number | undefined {
  const { at } = readAtQuery(search)
  if (at === undefined || at <= Math.floor(now / 1000)) return at
  throw new RequestError('invalid', [{ pointer: 'at', message: 'at must not be in the future' }])
}
