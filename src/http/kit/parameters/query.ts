import { DateTime } from 'luxon'
import { z } from 'zod'
import { findNearMiss } from '../../../domain/dictionaries/edit-distance.ts'
import { RequestError, type ErrorDetail } from '../../../domain/decider.ts'
import { jsonExcerpt } from '../../../representations/json.ts'
import { atMost, mustBe } from '../../../representations/parse.ts'

/** Whether a parameter takes a list, whatever is done with it then. */
export function isList(parameter: z.core.$ZodType): boolean {
  const { def } = parameter._zod
  if (def.type === 'array') return true
  const within = 'innerType' in def ? def.innerType : 'in' in def ? def.in : undefined
  return within instanceof z.core.$ZodType && isList(within)
}

/**
 * Counts the parameters of a query by what stands between them, before any is decoded: a million of one letter each would
 * take seconds.
 * @throws Refusal invalid
 */
function refuseMany(text: string, most: number): void {
  let count = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    if (++count <= most) continue
    throw new RequestError('invalid', `A request may have at most ${most.toLocaleString('en')} parameters`)
  }
}

/**
 * Date and time of ISO 8601 with an offset, basic or extended in any mixture, with or without seconds and their
 * fractions: `20150809T183142+0330`, `2015-08-09T18:31+03`, `2015-08-09T18:31:42+0330` (PHP's DATE_ISO8601),
 * `+2015-08-09T18:31:42+03:30` (its DATE_ISO8601_EXPANDED).
 */
const DATE_TIME_PATTERN =
  /^\+?(\d{4})-?(\d{2})-?(\d{2})T(\d{2}):?(\d{2})(?::?(\d{2})(?:[.,]\d{1,9})?)?(?:Z|([+-])(\d{2})(?::?(\d{2}))?)$/

/**
 * Whole seconds since 1970, UTC.
 * @param text a `+` that arrived as a space is still a `+`
 */
function parseDateTime(text: string): number | 'malformed' | 'out of range' {
  const found = DATE_TIME_PATTERN.exec(text.replaceAll(' ', '+'))
  if (found === null) return 'malformed'
  const [, year, month, day, hour, minute, second = '00', sign = '+', hours = '00', minutes = '00'] = found
  const time = DateTime.fromISO(`${year}-${month}-${day}T${hour}:${minute}:${second}${sign}${hours}:${minutes}`)
  if (!time.isValid || Number(hours) > 23 || Number(minutes) > 59) return 'out of range'
  return Math.floor(time.toSeconds())
}

/**
 * A fault for each name that was meant for a known one and is none: it differs by case, or by a letter or two. What resembles
 * none is ignored, since it may be of use to somebody between.
 */
export function findMistypedNames(names: Iterable<string>, known: readonly string[]): ErrorDetail[] {
  const faults: ErrorDetail[] = []
  for (const name of names) {
    const meant = known.includes(name) ? undefined : findNearMiss(name, known)
    if (meant !== undefined) faults.push({ pointer: name, message: `${name} is no parameter; did you mean ${meant}?` })
  }
  return faults
}

/** Values of one parameter at most. */
const VALUES_MAX = 1_000
/** Two parameters may have as many values as one may, and what else there is stands once. */
const PARAMETERS_MAX = 2_500

/** What a query gives: values by the names of parameters. */
export type QueryValues = ReadonlyMap<string, readonly string[]>

/**
 * Reads queries by their schema. Names that are nearly a parameter's are refused, and others ignored, but for filters
 * (`f[...]`) where there are some: a list that is not filtered would be taken for one that is. A parameter in brackets,
 * `f[id][]`, may stand several times; a number may stand in the brackets, and they may be left out.
 *
 * What has not the form of its type is malformed (400); what has it and is not acceptable is invalid (422). Messages of
 * schemas go on behind a parameter's name.
 * @returns a reader, which throws Refusal with all that is wrong; `also` finds what else is malformed
 */
export function queryReader<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>) {
  const names = Object.keys(schema.shape)
  const lists = new Set(names.filter((name) => isList(schema.shape[name] as z.core.$ZodType)))
  const known = [...names, ...[...lists].map(withoutBrackets)]
  const nameOf = (written: string) => {
    const list = `${withoutBrackets(written)}[]`
    return lists.has(list) ? list : written
  }
  return (
    search: string,
    extraFaults: (given: QueryValues) => readonly ErrorDetail[] = () => [],
  ): z.output<z.ZodObject<Shape>> => {
    refuseMany(search, PARAMETERS_MAX)
    const given = parseQuery(search, nameOf)
    const { data, error } = schema.safeParse(valuesOf(given, names, lists), { reportInput: true })
    const issues = error?.issues ?? []
    const malformed = [
      ...extraFaults(given),
      ...findMistypedNames(
        [...given.keys()].filter((name) => !isFilter(name)),
        known,
      ),
      ...findRepeatedParameters(given, names, lists),
      ...issues.filter(isMalformed).map(faultOf),
    ]
    const invalid = [...unknownFilters(given, known), ...issues.filter((issue) => !isMalformed(issue)).map(faultOf)]
    if (malformed.length > 0) throw new RequestError('malformed', [...malformed, ...invalid])
    if (data === undefined || invalid.length > 0) throw new RequestError('invalid', invalid)
    return data
  }
}

/** `f[id]` of `f[id][]` and of `f[id][0]`, which some clients write; of others the name as it is. */
const withoutBrackets = (name: string) => name.replace(/\[\d{0,9}\]$/, '')

function parseQuery(search: string, nameOf: (written: string) => string): QueryValues {
  const given = new Map<string, string[]>()
  for (const [written, value] of new URLSearchParams(search)) {
    const name = nameOf(written)
    const values = given.get(name)
    if (values === undefined) given.set(name, [value])
    else values.push(value)
  }
  return given
}

/** What a schema gets of each parameter: a list without repetitions, or the one value. */
function valuesOf(given: QueryValues, names: readonly string[], lists: ReadonlySet<string>): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const name of names) {
    const texts = given.get(name)
    if (texts !== undefined) values[name] = lists.has(name) ? [...new Set(texts)] : texts[0]
  }
  return values
}

/** Faults for parameters that stand several times and may stand once. */
function findRepeatedParameters(
  given: QueryValues,
  names: readonly string[],
  lists: ReadonlySet<string>,
): ErrorDetail[] {
  return names.flatMap((name) => {
    const count = given.get(name)?.length ?? 0
    if (count <= 1 || lists.has(name)) return []
    return [{ pointer: name, message: `${name} may stand once, it stands ${count} times` }]
  })
}

const isFilter = (name: string): boolean => /^f(?:\[|%5B)/.test(name)

/** Faults for filters that there are not, where there are some. */
function unknownFilters(given: QueryValues, known: readonly string[]): ErrorDetail[] {
  const filters = known.filter(isFilter)
  if (filters.length === 0) return []
  return [...given.keys()]
    .filter((name) => isFilter(name) && !known.includes(name))
    .map((name) => ({
      pointer: name,
      message: `${name.slice(0, 60)} is no filter; there are ${filters.join(', ')}`,
    }))
}

/** Whether a value has not the form of its type: it is still a text, or is not there. A number beyond 1.8e308 is one. */
const isMalformed = ({ code, input }: z.core.$ZodIssue): boolean => code === 'invalid_type' && typeof input !== 'number'

function faultOf({ path: [name], message }: z.core.$ZodIssue): ErrorDetail {
  return { pointer: String(name), message: `${String(name)} ${message}` }
}

/** A parameter that may stand several times; its name ends in `[]`. */
export const repeatable = <Value extends z.ZodType>(value: Value) =>
  z.array(value).max(VALUES_MAX, atMost(VALUES_MAX, 'values'))

/** A whole number in digits. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  const bounds = mustBe(`from ${min} to ${max}`)
  const form = mustBe('a whole number')
  const number = z
    .int({ error: (issue) => (typeof issue.input === 'number' ? bounds : form).error(issue), abort: true })
    .min(min, bounds)
    .max(max, bounds)
  return z.preprocess((text) => (isText(text) && /^-?\d+$/.test(text) ? Number(text) : text), number)
}

/** A number as JSON has it; with a comma it is none. */
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

/** Yes or no. */
export const FLAG = z
  .preprocess(
    (text) => (isText(text) ? (FLAGS.get(text.toLowerCase()) ?? text) : text),
    z.boolean(mustBe('1, 0, true or false')),
  )
  .meta({ id: 'YesOrNo', type: 'string', enum: [...FLAGS.keys()], 'x-enum-varnames': ['NO', 'YES', 'FALSE', 'TRUE'] })

const DATE_TIME_ERROR = mustBe('a date-time such as 20150809T183142+0330 or 2015-08-09T18:31:42+03:30')

/** A date-time of ISO 8601 with an offset, to whole seconds since 1970. */
export const DATE_TIME = z
  .string()
  .transform((text, context) => {
    const seconds = parseDateTime(text)
    if (typeof seconds === 'number') return seconds
    if (seconds === 'out of range') context.addIssue(`is no date of the calendar, got ${jsonExcerpt(text)}`)
    else {
      const message = DATE_TIME_ERROR.error({ input: text })
      context.addIssue({ code: 'invalid_type', expected: 'date', input: text, message })
    }
    return z.NEVER
  })
  .meta({ examples: ['20150809T183142+0330'] })

/** What documents say of a DATE_TIME beside what it is for. */
export const DATE_TIME_FORM = 'ISO 8601 with an offset, such as 20150809T183142+0330.'

const isText = (value: unknown) => typeof value === 'string'

/** Pages that are counted. */
const LIMIT_MAX = 1_000

/** How many a page has. */
export const limit = (defaultLimit: number) => wholeNumber(1, LIMIT_MAX).default(defaultLimit)

/** The parameters of a list that is shown in pages, which are counted. */
export const PAGE_QUERY = z.object({
  limit: limit(25).describe('Entries on a page.'),
  offset: wholeNumber(0).default(0).describe('Entries before the page.'),
})
