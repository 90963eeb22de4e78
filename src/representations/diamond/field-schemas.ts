import { z } from 'zod'
import type { ApiVersion, AmountRange, FieldDefinition } from '../../domain/diamond/field.ts'
import { FIELD_NAMES, FIELDS, type DiamondFields, type FieldName } from '../../domain/diamond/fields.ts'
import { isShapeId, suggestShape, parseShape, topLevelShapes } from '../../domain/dictionaries/shapes.ts'
import { parseText, jsonExcerpt } from '../json.ts'
import { jsonWriterOf } from './diamond-json.ts'
import { FIELD_DESCRIPTIONS } from './field-descriptions.ts'
import { issueOf, mustBe, parsedBy, textSchema } from '../parse.ts'

/** Parses a field's JSON value, other than null, to its stored form. */
type FieldSchema<Name extends FieldName> = z.ZodType<NonNullable<DiamondFields[Name]>>

/**
 * The input schema of a field in an API version, according to the table of fields. Messages continue after the field's
 * name.
 * @param absentMessage the message for null and missing values
 */
export function fieldSchema<Name extends FieldName>(
  name: Name,
  version: ApiVersion,
  absentMessage?: string,
): FieldSchema<Name> {
  return inputSchemaOf(FIELDS[name], version, absentMessage) as FieldSchema<Name>
}

/** The description and the example of a field in the API reference. */
export function documentationOf(name: FieldName, version: ApiVersion) {
  const { about, example } = FIELD_DESCRIPTIONS[name]
  const value = V4_FIELDS[name].parse(example)
  return { description: about, examples: [JSON.parse(jsonWriterOf(FIELDS[name], version)(value)) as unknown] }
}

function inputSchemaOf(field: FieldDefinition, version: ApiVersion, absentMessage?: string): z.ZodType {
  const isV3 = version === 'v3'
  switch (field.kind) {
    case 'text':
      return textSchema(field.to, `a string of 1 to ${field.to} characters without control characters`, absentMessage)
    case 'amount':
      return amountSchema(field, absentMessage)
    case 'flag':
      return z.boolean(mustBe('true or false', absentMessage))
    case 'level':
      return z.union(LEVELS, mustBe('0, 1 or 2', absentMessage))
    case 'scale':
      return scaleSchema(field, absentMessage)
    case 'shape':
      return isV3 ? shapeById(absentMessage) : shapeByName(field.to, absentMessage)
    case 'entry':
      return isV3 ? entryById(field, absentMessage) : entryByName(field, absentMessage)
  }
}

const LEVELS = [z.literal(0), z.literal(1), z.literal(2)] as const

/** `greater than 0 and at most 10000`, `of at least 0` */
export function boundsText({ over, from, to }: AmountRange): string {
  const lowerBound = over === undefined ? `of at least ${from ?? -Infinity}` : `greater than ${over}`
  return to === undefined ? lowerBound : `${lowerBound} and at most ${to}`
}

function amountSchema(bounds: AmountRange, absentMessage?: string) {
  const { over, from, to } = bounds
  const message = mustBe(`a number ${boundsText(bounds)}`, absentMessage)
  let amount = z.number(message)
  if (over !== undefined) amount = amount.gt(over, message)
  if (from !== undefined) amount = amount.gte(from, message)
  if (to !== undefined) amount = amount.lte(to, message)
  // Normalizes -0 to 0.
  return amount.overwrite((value) => value + 0)
}

/**
 * Longer than any dictionary entry. Longer words are not looked up, because that takes time proportional to their
 * length.
 */
const MAX_WORD_LENGTH = 100

function scaleSchema(
  { scale: { parse, expected } }: Extract<FieldDefinition, { kind: 'scale' }>,
  absentMessage?: string,
) {
  return parsedBy(
    z.string(mustBe(expected, absentMessage)),
    (text) => (text.length <= MAX_WORD_LENGTH ? parse(text) : undefined),
    expected,
    'unknown_value',
  )
}

type EntryField = Extract<FieldDefinition, { kind: 'entry' }>

const dictionaryText = (name: string) => `the dictionary ${name} (GET /v2/constants)`

/** By integer id, the only form in v3. */
function entryById(field: EntryField, absentMessage?: string) {
  const { name, has } = field.dictionary
  const { error } = mustBe(`an id of ${dictionaryText(name)}`, absentMessage)
  // A preprocessor, because the schema is shared by several dictionaries and does not know their names.
  return z.preprocess((given, context) => {
    if (typeof given !== 'number') context.addIssue(issueOf('type', error({ input: given })))
    else if (!has(given)) context.addIssue(issueOf('unknown_value', error({ input: given })))
    return given
  }, entryIds(field))
}

/** By title, short form, alias or id. */
function entryByName(field: EntryField, absentMessage?: string) {
  const { name, has, find } = field.dictionary
  const expected = `a title, short form, alias or id of ${dictionaryText(name)}`
  const idOf = (given: string | number) => {
    if (typeof given === 'number') return has(given) ? given : undefined
    return given.length <= MAX_WORD_LENGTH ? find(given) : undefined
  }
  return parsedBy(
    z.union([entryNames(field), z.string(), z.int()], mustBe(expected, absentMessage)),
    idOf,
    expected,
    'unknown_value',
  )
}

const SHAPE_ID = `an id of ${dictionaryText('cutShape')}`

const shapeOfId = (id: number) => (isShapeId(id) ? id : undefined)

const shapeById = (absentMessage?: string) =>
  parsedBy(z.int(mustBe(SHAPE_ID, absentMessage)), shapeOfId, SHAPE_ID, 'unknown_value')

/**
 * An unknown shape is stored as written, unless it looks like a misspelling of a known one, because it would get no
 * scores.
 */
function shapeByName(max: number, absentMessage?: string) {
  const otherName = `another string of 1 to ${max} characters without control characters and not only digits`
  const expected = `a title, alias or id of ${dictionaryText('cutShape')}, or ${otherName}`
  const shapeOf = (given: string | number) => {
    if (typeof given === 'number') return shapeOfId(given)
    const text = parseText(given, max)
    return text === undefined || /^\d+$/.test(text) ? undefined : (parseShape(text) ?? text)
  }
  return parsedBy(
    z.union([SHAPE_TITLES, z.string(), z.int()], mustBe(expected, absentMessage)),
    shapeOf,
    expected,
    'unknown_value',
  ).superRefine((shape, context) => {
    const suggestion = typeof shape === 'string' ? suggestShape(shape) : undefined
    if (suggestion === undefined) return
    const message = `must be a known cut shape, or a name that is not a misspelling of one; did you mean ${suggestion}? got ${jsonExcerpt(shape)}`
    context.addIssue(issueOf('unknown_value', message))
  })
}

/** The output schema of a field in an API version, without null. */
export function outputSchema(field: FieldDefinition, version: ApiVersion): z.ZodType {
  if (field.kind === 'shape') return version === 'v3' ? SHAPE_IDS : z.string()
  if (field.kind === 'entry') return version === 'v3' ? entryIds(field) : entryNames(field)
  if (field.kind === 'text') return z.string().meta({ minLength: 1, maxLength: field.to })
  return field.kind === 'scale' ? z.string() : inputSchemaOf(field, version)
}

/** The ids of entries. Generated clients name them after the titles. */
const idsOf = (entries: readonly { readonly id: number; readonly title: string }[], name: string) =>
  z.literal(entries.map(({ id }) => id)).meta({
    id: `${name}Id`,
    type: 'integer',
    examples: entries.slice(0, 1).map(({ id }) => id),
    'x-enum-varnames': entries.map(({ title }) => title.toUpperCase().replaceAll(/\W+/g, '_')),
  })

const SHAPE_IDS = idsOf(topLevelShapes(), 'CutShape')
const SHAPE_TITLES = z.enum(topLevelShapes().map(({ title }) => title)).meta({ id: 'CutShapeTitle' })

/** Shares one schema among dictionaries with the same entries, named after the first of them. */
function memoiseByEntries<Schema>(
  createSchema: (field: EntryField, name: string) => Schema,
): (field: EntryField) => Schema {
  const schemas = new Map<string, Schema>()
  return (field) => {
    const { name, all } = field.dictionary
    const key = JSON.stringify([all, field.shown])
    const schema = schemas.get(key) ?? createSchema(field, name.charAt(0).toUpperCase() + name.slice(1))
    schemas.set(key, schema)
    return schema
  }
}

const entryIds = memoiseByEntries(({ dictionary }, name) => idsOf(dictionary.all, name))

const entryNames = memoiseByEntries(({ dictionary, shown: shownMember }, name) =>
  z.enum(dictionary.all.map((entry) => entry[shownMember])).meta({ id: name }),
)

export const V4_FIELDS = Object.fromEntries(FIELD_NAMES.map((name) => [name, fieldSchema(name, 'v4')])) as {
  readonly [Name in FieldName]: FieldSchema<Name>
}
