import { z } from 'zod'
import type { ApiVersion, Field } from '../../domain/diamond/field.ts'
import { FIELDS, type FieldName } from '../../domain/diamond/fields.ts'
import { isTextMember, SCORES, type ScoreName } from '../../domain/diamond/scores.ts'
import { topShapes } from '../../domain/dictionaries/shapes.ts'
import { CERTIFICATION } from '../certification-schemas.ts'
import { writeOf } from './body.ts'
import { ASSIGNED } from './read.ts'
import { fieldsOf, READERS } from './readers.ts'
import { isShown } from './scores.ts'
import { WORDS } from './words.ts'

/**
 * The bodies of the Diamond API as zod sees them, for descriptions and for whoever checks one without reading it. They
 * accept what the readers accept, since a value is acceptable where its field's reader takes it; what is said beside that
 * (type, bounds, examples) is for people.
 */
type Versions = Readonly<Record<ApiVersion, z.ZodType>>

const versions = (schemaOf: (version: ApiVersion) => z.ZodType): Versions => ({
  v3: schemaOf('v3'),
  v4: schemaOf('v4'),
})

/** A value of a field as a version reads it: by the same reader, of a type that a person can be told. */
function readable(name: FieldName, version: ApiVersion): z.ZodType {
  const reader = READERS[version].get(name)
  if (reader === undefined) throw new Error(`${version} does not read ${name}`)
  const accepted = z.unknown().superRefine((value, context) => {
    const result = reader(value)
    if ('problem' in result) context.addIssue({ code: 'custom', message: `${name} ${result.problem}` })
  })
  return typeOf(FIELDS[name], version).pipe(accepted).meta(described(name, version))
}

/** What JSON's type a field's value has, on its way in. */
function typeOf(field: Field, version: ApiVersion): z.ZodType {
  switch (field.kind) {
    case 'text':
      return z.string().meta({ minLength: 1, maxLength: field.to })
    case 'amount': {
      const { over, from, to } = field
      return z.number().meta({
        ...(over !== undefined && { exclusiveMinimum: over }),
        ...(from !== undefined && { minimum: from }),
        ...(to !== undefined && { maximum: to }),
      })
    }
    case 'flag':
      return z.boolean()
    case 'scale':
      return z.string()
    case 'level':
      return z.union([z.literal(0), z.literal(1), z.literal(2)])
    case 'shape':
      return version === 'v3' ? z.int() : named(SHAPE.v4)
    case 'entry':
      return version === 'v3' ? entryOf(field, version) : named(entryOf(field, version))
  }
}

/** A dictionary's entry: one of the names it is shown by, another that it has, or its id. */
const named = (entry: z.ZodType) => z.union([entry, z.string(), z.int()])

/** Ids of entries, with the titles as their names in generated clients. */
const idOf = (entries: readonly { readonly id: number; readonly title: string }[], name: string) =>
  z.literal(entries.map(({ id }) => id)).meta({
    id: `${name}Id`,
    type: 'integer',
    'x-enum-varnames': entries.map(({ title }) => title.toUpperCase().replaceAll(/\W+/g, '_')),
  })

const SHAPE = {
  v3: idOf(topShapes(), 'CutShape'),
  v4: z.enum(topShapes().map(({ title }) => title)).meta({ id: 'CutShapeTitle' }),
} as const

const entries = new Map<string, z.ZodType>()

/** A dictionary's entry as a version shows it. Dictionaries with the same entries share a schema, named by the first. */
function entryOf({ dictionary: { name, all }, shown }: Extract<Field, { kind: 'entry' }>, version: ApiVersion) {
  const names = all.map((entry) => entry[shown])
  const key = JSON.stringify([version, all, names])
  const title = name.charAt(0).toUpperCase() + name.slice(1)
  const schema = entries.get(key) ?? (version === 'v3' ? idOf(all, title) : z.enum(names).meta({ id: title }))
  entries.set(key, schema)
  return schema
}

/** Words for people, and an example in the version's own form. */
function described(name: FieldName, version: ApiVersion) {
  const { about, example } = WORDS[name]
  const read = READERS.v4.get(name)?.(example) ?? { value: example }
  if ('problem' in read) throw new Error(`the example of ${name} is none: it ${read.problem}`)
  return { description: about, examples: [JSON.parse(writeOf(FIELDS[name], version)(read.value)) as unknown] }
}

const assigned = Object.fromEntries(
  [...ASSIGNED].map((name) => [name, z.unknown().optional().describe('Assigned by the service; ignored here.')]),
)

/** @param lenient what may become of a field's schema: it may be absent, and null where that has a meaning */
const body = (version: ApiVersion, lenient: (field: Field, schema: z.ZodType) => z.ZodType) =>
  z.strictObject({
    ...Object.fromEntries(
      fieldsOf(version).map((name) => [name, lenient(FIELDS[name], readable(name, version))] as const),
    ),
    ...assigned,
  })

/** A diamond to create: null is the same as absent. */
export const NEW_DIAMOND = versions((version) =>
  body(version, ({ required }, schema) => (required ? schema : schema.nullish())).meta({ id: `NewDiamond.${version}` }),
)

/** What changes of a diamond: null removes a value, but for what every diamond has. */
export const DIAMOND_CHANGES = versions((version) =>
  body(version, ({ required }, schema) => (required ? schema.optional() : schema.nullish())).meta({
    id: `DiamondChanges.${version}`,
  }),
)

const links = z.array(z.object({ rel: z.string(), href: z.url() }))

const scoreOf = (name: ScoreName, version: ApiVersion) =>
  z
    .object(
      Object.fromEntries(
        SCORES[name]
          .filter((member) => isShown(member, version))
          .map((member) => [member, isTextMember(member) ? z.string() : z.number()]),
      ),
    )
    .nullable()

const scoresOf = (version: ApiVersion) =>
  z.object(Object.fromEntries((Object.keys(SCORES) as ScoreName[]).map((name) => [name, scoreOf(name, version)])))

/** A field's value as a version shows it. */
function shown(name: FieldName, version: ApiVersion): z.ZodType {
  const field: Field = FIELDS[name]
  const schema = shownType(field, version).meta(described(name, version))
  return field.required || field.default !== null ? schema : schema.nullable()
}

function shownType(field: Field, version: ApiVersion): z.ZodType {
  if (field.kind === 'shape') return version === 'v3' ? SHAPE.v3 : z.string()
  if (field.kind === 'entry') return entryOf(field, version)
  return typeOf(field, version)
}

/** A diamond as it is answered. */
export const DIAMOND = versions((version) =>
  z
    .strictObject({
      id: z.int(),
      ...Object.fromEntries(fieldsOf(version).map((name) => [name, shown(name, version)])),
      date: z.iso.datetime({ offset: true }).describe('When it was created, UTC.'),
      ...(version === 'v4' && { certifications: z.array(CERTIFICATION) }),
      scores: scoresOf(version).describe('Optical scores, null until they are computed.'),
      _links: links,
    })
    .meta({ id: `Diamond.${version}` }),
)
