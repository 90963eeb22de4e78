import { z } from 'zod'
import {
  NEWEST_FIRST,
  type DiamondFilter,
  type Page,
  type Place,
  type Sort,
} from '../../projections/diamonds/list-query.ts'
import { visibleText } from '../../domain/visible-text.ts'
import { refuseMany } from '../kit/parameters/count.ts'
import { mistypedAmong } from '../kit/parameters/mistyped.ts'
import { ADDED_PARAMETERS, ADDED_QUERY, addedFilters, REPEATED, sortIn } from './list-filters.ts'
import {
  date,
  FLAG,
  flag,
  refuse,
  several,
  single,
  VALUES_MAX,
  whole,
  type Faults,
  type Parameters,
} from './parameters.ts'
import type { ApiVersion } from '../../domain/diamond/field.ts'
import { FIELDS, FILTERED, type FilteredField } from '../../domain/diamond/fields.ts'
import { fieldsOf } from '../../representations/diamond/readers.ts'

const LIMIT_DEFAULT = 25
const LIMIT_MAX = 1_000
/** Two filters may have as many values as one may, and what else there is stands once. */
const PARAMETERS_MAX = 2_500

export type ListQuery = { readonly filter: DiamondFilter; readonly page: Page }

/** Reads a cursor of a list; undefined for what is none of it. */
export type PlaceOf = (cursor: string, sort: Sort) => Place | undefined

const DATE_FORM = 'ISO 8601 with an offset, such as 20150809T183142+0330.'
const DATE = z.string().meta({ examples: ['20150809T183142+0330'] })
const LISTED = {
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT).describe('Diamonds on a page.'),
  offset: z.coerce.number().int().min(0).default(0).describe('Diamonds before the page.'),
  after: z
    .string()
    .optional()
    .describe(
      'Instead of offset: the cursor that Link gave with rel="next", which begins behind it. Empty for the first page.',
    )
    .meta({ examples: [''] }),
  'f[id][]': z.array(z.coerce.number().int().min(1)).max(VALUES_MAX).optional().describe('Of these ids.'),
  'f[dateFrom]': DATE.optional().describe(`Created then or later. ${DATE_FORM}`),
  'f[dateTo]': DATE.optional().describe(`Created then or before. ${DATE_FORM}`),
}

/** The fields that a version's lists can be filtered by: texts may stand several times, yes or no once. */
const filteredIn = (version: ApiVersion) => {
  const names = FILTERED.filter((name) => (fieldsOf(version) as readonly string[]).includes(name))
  const isFlag = (name: FilteredField) => FIELDS[name].kind === 'flag'
  return { texts: names.filter((name) => !isFlag(name)), flags: names.filter(isFlag) }
}

const FILTERED_IN = { v3: filteredIn('v3'), v4: filteredIn('v4') }

const listQuery = (version: ApiVersion) => {
  const { texts, flags } = FILTERED_IN[version]
  const several = texts.map(
    (name) =>
      [
        `f[${name}][]`,
        z.array(z.string()).max(VALUES_MAX).optional().describe(`Whose ${name} is one of these.`),
      ] as const,
  )
  const single = flags.map((name) => [`f[${name}]`, FLAG.optional().describe(`Whose ${name} is so.`)] as const)
  return z.object({ ...LISTED, ...Object.fromEntries([...several, ...single]), ...(version === 'v4' && ADDED_QUERY) })
}

/** What `parsePage` reads, for documents. */
export const PAGE_QUERY = z.object({
  limit: LISTED.limit.describe('Entries on a page.'),
  offset: LISTED.offset.describe('Entries before the page.'),
})

/** What `parseAt` reads, for documents. */
export const AT_QUERY = z.object({
  at: DATE.optional().describe(`As it was at the end of that second. ${DATE_FORM}`),
})

/** What `parseListQuery` reads, for documents. */
export const LIST_QUERY = { v3: listQuery('v3'), v4: listQuery('v4') }

/**
 * limit, offset or after, and the f[...] filters of a list.
 * @param search the query string, without its question mark
 * @throws Refusal malformed or invalid, with all that is wrong
 */
export function parseListQuery(version: ApiVersion, search: string, placeOf: PlaceOf): ListQuery {
  if (search === '') return { filter: {}, page: { limit: LIMIT_DEFAULT, offset: 0 } }
  refuseMany(search, PARAMETERS_MAX)
  const parameters = parametersOf(search)
  const faults: Faults = { malformed: [], invalid: [] }
  const sort = version === 'v4' ? sortIn(parameters, faults) : undefined
  const place = placeIn(parameters, (cursor) => placeOf(cursor, sort ?? NEWEST_FIRST), faults)
  const page = { ...pageOf(parameters, faults), ...place, ...(sort !== undefined && { sort }) }
  const filter = filterOf(version, parameters, faults)
  if (parameters.has('at')) {
    const message = `at shows one diamond as it was: GET /${version}/diamond/{id}?at=TIME; a list is as it is now`
    faults.malformed.push({ pointer: 'at', message })
  }
  refuse(faults)
  return { filter, page }
}

/**
 * limit and offset of a list that has no filters.
 * @throws Refusal malformed or invalid, with all that is wrong
 */
export function parsePage(search: string): Page {
  refuseMany(search, PARAMETERS_MAX)
  const parameters = parametersOf(search)
  const faults: Faults = { malformed: [], invalid: [] }
  refuseMistyped(parameters, ['limit', 'offset'], faults)
  const page = pageOf(parameters, faults)
  refuse(faults)
  return page
}

export type ChangesQuery = { readonly after: string | undefined; readonly limit: number; readonly wait: number }

/**
 * after, limit and wait (seconds) of the feed of changes. What `after` says is the feed's to read.
 * @throws Refusal malformed or invalid, with all that is wrong
 */
export function parseChangesQuery(search: string): ChangesQuery {
  refuseMany(search, PARAMETERS_MAX)
  const parameters = parametersOf(search)
  const faults: Faults = { malformed: [], invalid: [] }
  refuseMistyped(parameters, ['after', 'limit', 'wait'], faults)
  const after = single(parameters, 'after', faults)
  const limit = whole(parameters, 'limit', CHANGES_DEFAULT, { min: 1, max: LIMIT_MAX }, faults)
  const wait = whole(parameters, 'wait', 0, { min: 0, max: WAIT_MAX }, faults)
  refuse(faults)
  return { after, limit, wait }
}

/** Changes on a page, unless told. */
const CHANGES_DEFAULT = 100
/** Seconds. */
const WAIT_MAX = 60

/** What `parseChangesQuery` reads, for documents. */
export const CHANGES_QUERY = z.object({
  after: z
    .string()
    .optional()
    .describe('Where to begin: a cursor of the feed, or now. Without it, at the beginning.')
    .meta({ examples: ['0-17'] }),
  limit: LISTED.limit.default(CHANGES_DEFAULT).describe('Changes on a page.'),
  wait: z.coerce.number().int().min(0).max(WAIT_MAX).default(0).describe('Seconds to wait until there is something.'),
})

export type SizesQuery = { readonly from: number; readonly to: number }

/**
 * Two sizes of the tree of the log.
 * @param most how large it is
 * @throws Refusal malformed or invalid, with all that is wrong
 */
export function parseSizesQuery(search: string, most: number): SizesQuery {
  refuseMany(search, PARAMETERS_MAX)
  const parameters = parametersOf(search)
  const faults: Faults = { malformed: [], invalid: [] }
  refuseMistyped(parameters, ['from', 'to'], faults)
  for (const name of ['from', 'to']) {
    if (!parameters.has(name))
      faults.malformed.push({ pointer: name, message: `${name} is missing: a number of events` })
  }
  const to = whole(parameters, 'to', most, { min: 0, max: most }, faults)
  const from = whole(parameters, 'from', 0, { min: 0, max: to }, faults)
  refuse(faults)
  return { from, to }
}

const SIZE = z.coerce.number().int().min(0)

/** What `parseSizesQuery` reads, for documents. */
export const SIZES_QUERY = z.object({
  from: SIZE.describe('Events of the earlier tree.').meta({ examples: [0] }),
  to: SIZE.describe('Events of the later tree, up to the size that is signed.').meta({ examples: [0] }),
})

/**
 * The time that a diamond is asked for by `at`, in whole seconds since 1970; undefined for as it is now.
 * @param now milliseconds since 1970: what is later has not happened
 * @throws Refusal malformed or invalid
 */
export function parseAt(search: string, now: number): number | undefined {
  refuseMany(search, PARAMETERS_MAX)
  const parameters = parametersOf(search)
  const faults: Faults = { malformed: [], invalid: [] }
  refuseMistyped(parameters, ['at'], faults)
  const seconds = date(parameters, 'at', faults)
  if (seconds !== undefined && seconds > Math.floor(now / 1000)) {
    faults.invalid.push({ pointer: 'at', message: 'at must not be in the future' })
  }
  refuse(faults)
  return seconds
}

const pageOf = (parameters: Parameters, faults: Faults): Page => ({
  limit: whole(parameters, 'limit', LIMIT_DEFAULT, { min: 1, max: LIMIT_MAX }, faults),
  offset: whole(parameters, 'offset', 0, { min: 0, max: Number.MAX_SAFE_INTEGER }, faults),
})

/** Where a page begins that was asked for by its place. */
function placeIn(
  parameters: Parameters,
  placeOf: (cursor: string) => Place | undefined,
  faults: Faults,
): Pick<Page, 'after'> {
  const cursor = single(parameters, 'after', faults)
  if (cursor === undefined) return {}
  if (parameters.has('offset')) {
    const message = 'after begins behind a place, and offset counts from the first diamond: send one of them'
    faults.malformed.push({ pointer: 'offset', message })
  }
  const after = cursor === '' ? [] : placeOf(cursor)
  if (after !== undefined) return { after }
  const message = `after must be a cursor that Link gave for this list in this order, or empty, got ${cursor.slice(0, 40)}`
  faults.malformed.push({ pointer: 'after', message })
  return {}
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
const withoutIndex = (name: string) => name.replace(NUMBERED, '$1[]')
const NUMBERED = new RegExp(`^(f\\[(?:${['id', ...FILTERED_IN.v3.texts, ...REPEATED].join('|')})\\])\\[\\d{1,9}\\]$`)

/** Filters that there are none of are told apart. */
function refuseMistyped(parameters: Parameters, known: readonly string[], faults: Faults): void {
  const names = [...parameters.keys()].filter((name) => !IS_FILTER.test(name))
  faults.malformed.push(...mistypedAmong(names, known))
}

const IS_FILTER = /^f(?:\[|%5B)/

function filterOf(version: ApiVersion, parameters: Parameters, faults: Faults): DiamondFilter {
  const { texts, flags } = FILTERED_IN[version]
  const known = KNOWN[version]
  refuseMistyped(parameters, ['limit', 'offset', 'after', ...(version === 'v4' ? ['sort'] : []), ...known], faults)
  for (const name of parameters.keys()) {
    if (IS_FILTER.test(name) && !known.includes(name)) {
      faults.invalid.push({
        pointer: name,
        message: `${name.slice(0, 60)} is no filter; there are ${known.join(', ')}`,
      })
    }
  }
  const ids = several(parameters, 'f[id]', faults)?.map((text) => idOf(text, faults))
  const wanted = [
    ...texts.map((name) => [name, several(parameters, `f[${name}]`, faults)?.flatMap(spellingsOf)] as const),
    ...flags.map((name) => [name, flag(parameters, `f[${name}]`, faults)] as const),
  ]
  const from = date(parameters, 'f[dateFrom]', faults)
  const to = date(parameters, 'f[dateTo]', faults)
  return {
    ...(ids !== undefined && { ids }),
    ...(version === 'v4' && addedFilters(parameters, faults)),
    ...Object.fromEntries(wanted.filter(([, value]) => value !== undefined)),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  }
}

const filtersOf = (version: ApiVersion) => {
  const { texts, flags } = FILTERED_IN[version]
  const several = ['id', ...texts].flatMap((name) => [`f[${name}][]`, `f[${name}]`])
  return [
    ...several,
    ...flags.map((name) => `f[${name}]`),
    'f[dateFrom]',
    'f[dateTo]',
    ...(version === 'v4' ? ADDED_PARAMETERS : []),
  ]
}

const KNOWN = { v3: filtersOf('v3'), v4: filtersOf('v4') }

/** As texts are stored, and as earlier releases stored them: with characters that nobody sees, and with blanks around them. */
const spellingsOf = (text: string) => [...new Set([visibleText(text), text.trim(), text])]

function idOf(text: string, faults: Faults): number {
  const id = Number(text)
  if (!/^\d+$/.test(text) || id < 1 || id > Number.MAX_SAFE_INTEGER) {
    const message = `f[id][] must be an integer from 1 to ${Number.MAX_SAFE_INTEGER}, got ${text.slice(0, 40)}`
    faults.invalid.push({ pointer: 'f[id][]', message })
  }
  return id
}
