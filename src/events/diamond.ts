import { z } from 'zod'
import { isId, type DictionaryName } from '../domain/dictionaries/lookup.ts'
import { isShapeId } from '../domain/dictionaries/shapes.ts'
import { first } from './event-schema.ts'

const id = z.int().min(1)

/** An id that this release's dictionary lacks is a newer release's: nothing here could show or score the stone. */
const entry = (dictionary: DictionaryName) =>
  z
    .int()
    .refine((known) => isId(dictionary, known), `this release's dictionary ${dictionary} has no such id`)
    .nullable()
const shape = z.int().refine(isShapeId, "this release's dictionary of cut shapes has no such id")
const level = z.union([z.literal(0), z.literal(1), z.literal(2)])

const fields = z.object({
  sku: z.string(),
  price: z.number().nullable(),
  isColored: z.boolean(),
  isLabGrown: z.boolean(),
  isPublished: z.boolean(),
  cutShape: z.union([shape, z.string()]),
  carat: z.number(),
  clarity: entry('clarity'),
  color: entry('color'),
  cutQuality: entry('cutQuality'),
  polish: entry('polish'),
  symmetry: entry('symmetry'),
  fluorIntensity: entry('fluorIntensity'),
  fluorColor: entry('fluorColor'),
  fancyGrade: entry('fancyGrade'),
  colorHue: entry('colorHue'),
  colorModifier: entry('colorModifier'),
  culetSize: z.string().nullable(),
  girdle: z.string().nullable(),
  access: level,
  dataAccess: level,
})

const score = z.object({ val: z.number(), rg: z.number(), d: z.number(), ver: z.string() })
const scores = z.object({
  integral: score.nullable(),
  spread: z.object({ ct: z.number(), pc: z.number(), d: z.number(), ver: z.string() }).nullable(),
  fire: score.nullable(),
  brilliance: score.extend({ faceup: z.number(), avg: z.number() }).nullable(),
  fluor: z
    .object({ n: z.number(), f: z.number(), m: z.number(), s: z.number(), vs: z.number() })
    .extend({ color: z.int(), colorCode: z.string(), ver: z.string() })
    .nullable(),
  symmetry: z
    .object({ val: z.number(), pav: z.number(), crown: z.number(), d: z.number(), ver: z.string() })
    .nullable(),
})

export const diamondSchemas = {
  DiamondCreated: first(
    z.object({
      id,
      owner: id,
      date: z.int(),
      set: fields.partial().required({ sku: true, cutShape: true, carat: true }),
    }),
  ),
  DiamondPatched: first(
    z.object({
      set: fields.partial(),
      removed: z.array(fields.omit({ sku: true, cutShape: true, carat: true }).keyof()),
    }),
  ),
  DiamondDeleted: first(z.object({})),
  DiamondScored: first(z.object({ id, revision: z.int().min(0), scores })),
}
