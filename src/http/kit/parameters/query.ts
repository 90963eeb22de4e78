import { DateTime } from 'luxon'
import { z } from 'zod'
import { findNearMiss } from '../../../domain/dictionaries/edit-distance.ts'
import { RequestError, type ErrorDetail } from '../../../domain/request-error.ts'
import { jsonExcerpt } from '../../../representations/json.ts'
import { atMost, faultCodeOf, issueOf, mustBe } from '../../../representations/parse.ts'

/** Whether the schema of a parameter accepts an array, looking through wrappers such as `optional` and `transform`. */
export function isList(parameter: z.core.$ZodType): boolean {
  const { def } = parameter._zod
  if (def.type === 'array') return true
  const inner = 'innerType' in def ? def.innerType : 'in' in def ? def.in : undefined
  return inner instanceof z.core.$ZodType && isList(inner)
}

/**
 * Limits the number of parameters before decoding: a million parameters of one letter would take seconds.
 * @throws RequestError invalid
 */
function refuseManyParameters(text: string, max: number): void {
  let count = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    if (++count <= max) continue
    throw new RequestError('invalid', `A request must have at most ${max.toLocaleString('en')} parameters`)
  }
}

/**
 * An ISO 8601 date-time with an offset, in basic or extended format or a mixture, with or without seconds and fractions:
 * `20150809T183142+0330`, `2015-08-09T18:31+03`, `2015-08-09T18:31:42+0330` (PHP's DATE_ISO8601),
 * `+2015-08-09T18:31:42+03:30` (PHP's DATE_ISO8601_EXPANDED).
 */
const DATE_TIME_PATTERN =
  /^\+?(\d{4})-?(\d{2})-?(\d{2})T(\d{2}):?(\d{2})(?::?(\d{2})(?:[.,]\d{1,9})?)?(?:Z|([+-])(\d{2})(?::?(\d{2}))?)$/

/**
 * @param text may have a space instead of the `+`, as query decoding leaves it
 * @returns whole seconds since 1970, UTC
 */
function parseDateTime(text: string): number | 'malformed' | 'out of range' {
  const found = DATE_TIME_PATTERN.exec(text.replaceAll(' ', '+'))
  if (found === null) return 'malformed'
  const [, year, month, day, hour, minute, second = '00', sign = '+', hours = '00', minutes = '00'] = found
  const time = DateTime.fromISO(`${year}-${month}-${day}T${hour}:${minute}:${second}${sign}${hours}:${minutes}`)
  if (!time.isValid || Number(hours) > 23 || Number(minutes) > 59) return 'out of range'
  return Math.floor(time.toSeconds())
}

const MAX_NAME_LENGTH = 60

function unknownParameter(name: string, hint: string): ErrorDetail {
  const shortName = name.slice(0, MAX_NAME_LENGTH)
  const kind = isFilter(name) ? 'filter' : 'parameter'
  return { pointer: shortName, message: `Unknown ${kind} ${shortName}; ${hint}`, code: 'unknown_parameter' }
}

const allowedNames = (names: readonly string[]): string =>
  names.length === 0 ? 'this request has none' : `allowed: ${names.join(', ')}`

/**
 * Reports names that are probably misspelt: they differ from a known name by case or by one or two letters. Other unknown
 * names are ignored: for requests whose parameters are not filters, and for links, to which others append parameters.
 */
export function findMistypedNames(names: Iterable<string>, knownNames: readonly string[]): ErrorDetail[] {
  return [...names].flatMap((name) => {
    const suggestion = knownNames.includes(name) ? undefined : findNearMiss(name, knownNames)
    return suggestion === undefined ? [] : [unknownParameter(name, `did you mean ${suggestion}?`)]
  })
}

/** Names of proxies, caches and analytics, which are always ignored. */
const FOREIGN_NAME = /^(?:_|utm_)/

/** What other APIs call the parameters of pagination. */
const FOREIGN_PAGINATION: ReadonlyMap<string, readonly string[]> = new Map([
  ['page', ['offset', 'after']],
  ['per_page', ['limit']],
  ['cursor', ['after']],
])

/** `f[sku][]`, `f[sku]` and `sku`. */
const spellingsOf = (name: string) => [name, withoutBrackets(name), name.replace(/^f\[(\w+)\].*/, '$1')]

/** Reports names that are not known, except filters, with the nearest known name: `f[sku][]` for `sku`. */
function findUnknownNames(names: Iterable<string>, knownNames: readonly string[]): ErrorDetail[] {
  return [...names]
    .filter((name) => !knownNames.includes(name) && !FOREIGN_NAME.test(name) && !isFilter(name))
    .map((name) => unknownParameter(name, hintFor(name, knownNames)))
}

function hintFor(name: string, knownNames: readonly string[]): string {
  const nameBySpelling = new Map(knownNames.flatMap((known) => spellingsOf(known).map((spelling) => [spelling, known])))
  const nearest = nameBySpelling.get(findNearMiss(name, [...nameBySpelling.keys()]) ?? '')
  const foreign = FOREIGN_PAGINATION.get(name.toLowerCase()) ?? []
  const suggestions = nearest === undefined ? foreign.filter((known) => knownNames.includes(known)) : [nearest]
  return suggestions.length > 0 ? `did you mean ${suggestions.join(' or ')}?` : allowedNames(knownNames)
}

const VALUES_MAX = 1_000
/** Allows two repeatable parameters with the maximum number of values, and 500 others. */
const PARAMETERS_MAX = 2_500

export type QueryValues = ReadonlyMap<string, readonly string[]>

/**
 * Creates a parser for the query parameters of a schema. Unknown names are errors, because a client that receives an unfiltered
 * list may change the wrong diamond; names that begin with `_` or `utm_` are ignored. A list parameter `f[id][]` may be
 * repeated; `f[id][0]` and `f[id]` are accepted too.
 *
 * An unknown name, or a value that cannot be parsed, is malformed (400). An unknown filter (`f[...]`), or a value that is out
 * of range, is invalid (422). Messages of the schema follow the name of the parameter.
 * @returns a parser that throws RequestError with all errors; its `extraFaults` adds further malformed parameters
 */
export function queryReader<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>) {
  const names = Object.keys(schema.shape)
  const lists = new Set(names.filter((name) => isList(schema.shape[name] as z.core.$ZodType)))
  const canonicalName = (rawName: string) => {
    const list = `${withoutBrackets(rawName)}[]`
    return lists.has(list) ? list : rawName
  }
  return (
    search: string,
    extraFaults: (parameters: QueryValues) => readonly ErrorDetail[] = () => [],
  ): z.output<z.ZodObject<Shape>> => {
    refuseManyParameters(search, PARAMETERS_MAX)
    const parameters = parseQuery(search, canonicalName)
    const { data, error } = schema.safeParse(toSchemaInput(parameters, names, lists), { reportInput: true })
    const issues = error?.issues ?? []
    const extra = extraFaults(parameters)
    const reported = new Set(extra.map(({ pointer }) => pointer))
    const malformed = [
      ...extra,
      ...findUnknownNames(parameters.keys(), names).filter(({ pointer }) => !reported.has(pointer)),
      ...findRepeatedParameters(parameters, names, lists),
      ...issues.filter(isMalformed).map(faultOf),
    ]
    const invalid = [
      ...unknownFilters(parameters, names),
      ...issues.filter((issue) => !isMalformed(issue)).map(faultOf),
    ]
    if (malformed.length > 0) throw new RequestError('malformed', [...malformed, ...invalid])
    if (data === undefined || invalid.length > 0) throw new RequestError('invalid', invalid)
    return data
  }
}

/** `f[id]` for `f[id][]` and `f[id][0]`; other names are unchanged. */
const withoutBrackets = (name: string) => name.replace(/\[\d{0,9}\]$/, '')

function parseQuery(search: string, canonicalName: (rawName: string) => string): QueryValues {
  const parameters = new Map<string, string[]>()
  for (const [rawName, value] of new URLSearchParams(search)) {
    const name = canonicalName(rawName)
    const values = parameters.get(name)
    if (values === undefined) parameters.set(name, [value])
    else values.push(value)
  }
  return parameters
}

/** The input of the schema: a list without duplicates, or the first value. */
function toSchemaInput(
  parameters: QueryValues,
  names: readonly string[],
  lists: ReadonlySet<string>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const name of names) {
    const texts = parameters.get(name)
    if (texts !== undefined) values[name] = lists.has(name) ? [...new Set(texts)] : texts[0]
  }
  return values
}

function findRepeatedParameters(
  parameters: QueryValues,
  names: readonly string[],
  lists: ReadonlySet<string>,
): ErrorDetail[] {
  return names.flatMap((name) => {
    const count = parameters.get(name)?.length ?? 0
    if (count <= 1 || lists.has(name)) return []
    return [{ pointer: name, message: `${name} must be given only once, got ${count} values`, code: 'duplicate' }]
  })
}

const isFilter = (name: string): boolean => /^f(?:\[|%5B)/.test(name)

function unknownFilters(parameters: QueryValues, knownNames: readonly string[]): ErrorDetail[] {
  const filters = knownNames.filter(isFilter)
  return [...parameters.keys()]
    .filter((name) => isFilter(name) && !knownNames.includes(name))
    .map((name) => unknownParameter(name, hintFor(name, filters)))
}

/** Whether a value is missing or could not be parsed. A number above 1.8e308 (Infinity) was parsed, so it is invalid. */
const isMalformed = ({ code, input }: z.core.$ZodIssue): boolean => code === 'invalid_type' && typeof input !== 'number'

function faultOf(issue: z.core.$ZodIssue): ErrorDetail {
  const {
    path: [name],
    message,
  } = issue
  const code = faultCodeOf(issue)
  // Every value of a query is a text, so one of the wrong type is one that could not be parsed.
  return { pointer: String(name), message: `${String(name)} ${message}`, code: code === 'type' ? 'format' : code }
}

/** One of these names. */
export const choice = <const Name extends string>(names: readonly Name[]) =>
  z.enum(names, {
    error: ({ input }) => {
      const suggestion = findNearMiss(String(input), names)
      const hint = suggestion === undefined ? '' : `; did you mean ${suggestion}?`
      return `must be one of ${names.join(', ')}, got ${jsonExcerpt(input)}${hint}`
    },
  })

/** A parameter that may be repeated; its name ends in `[]`. */
export const repeatable = <Value extends z.ZodType>(value: Value) =>
  z
    .array(value, mustBe('a list'))
    .min(1, mustBe('a list of at least one value'))
    .max(VALUES_MAX, atMost(VALUES_MAX, 'values'))

/** An integer in decimal digits. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  const rangeError = mustBe(`from ${min} to ${max}`)
  const formatError = mustBe('a whole number')
  const number = z
    .int({ error: (issue) => (typeof issue.input === 'number' ? rangeError : formatError).error(issue), abort: true })
    .min(min, rangeError)
    .max(max, rangeError)
  return z.preprocess((text) => (isText(text) && /^-?\d+$/.test(text) ? Number(text) : text), number)
}

/** A number in JSON syntax. */
export const NUMBER = z.preprocess(
  (text) => (isText(text) && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : text),
  z.number(mustBe('a number such as 1.2')),
)

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['0', false],
  ['1', true],
  ['false', false],
  ['true', true],
])

/** `0`, `1`, `true` or `false`, in any case. */
export const FLAG = z
  .preprocess(
    (text) => (isText(text) ? (FLAGS.get(text.toLowerCase()) ?? text) : text),
    z.boolean(mustBe('1, 0, true or false')),
  )
  .meta({ id: 'YesOrNo', type: 'string', enum: [...FLAGS.keys()], 'x-enum-varnames': ['NO', 'YES', 'FALSE', 'TRUE'] })

const DATE_TIME_ERROR = mustBe('a date-time such as 20150809T183142+0330 or 2015-08-09T18:31:42+03:30')

/** An ISO 8601 date-time with an offset, parsed to whole seconds since 1970. */
export const DATE_TIME = z
  .string()
  .transform((text, context) => {
    const seconds = parseDateTime(text)
    if (typeof seconds === 'number') return seconds
    if (seconds === 'out of range')
      context.addIssue(issueOf('range', `must be a valid calendar date, got ${jsonExcerpt(text)}`))
    else {
      const message = DATE_TIME_ERROR.error({ input: text })
      context.addIssue({ code: 'invalid_type', expected: 'date', input: text, message })
    }
    return z.NEVER
  })
  .meta({ examples: ['20150809T183142+0330'] })

/** Describes the format of a DATE_TIME in the API reference. */
export const DATE_TIME_FORM = 'ISO 8601 with an offset, such as 20150809T183142+0330.'

const isText = (value: unknown) => typeof value === 'string'

const LIMIT_MAX = 1_000

export const limit = (defaultLimit: number) => wholeNumber(1, LIMIT_MAX).default(defaultLimit)

/** The parameters of offset pagination. */
export const PAGE_QUERY = z.object({
  limit: limit(25).describe('Number of entries per page.'),
  offset: wholeNumber(0).default(0).describe('Number of entries to skip.'),
})
