import { z } from 'zod'
import type { EventSchema } from './registry.ts'

const id = z.int().min(1)
const entry = z.int().nullable()
const level = z.union([z.literal(0), z.literal(1), z.literal(2)])

const fields = z.object({
  sku: z.string(),
  price: z.number().nullable(),
  isColored: z.boolean(),
  isLabGrown: z.boolean(),
  isPublished: z.boolean(),
  cutShape: z.union([z.int(), z.string()]),
  carat: z.number(),
  clarity: entry,
  color: entry,
  cutQuality: entry,
  polish: entry,
  symmetry: entry,
  fluorIntensity: entry,
  fluorColor: entry,
  fancyGrade: entry,
  colorHue: entry,
  colorModifier: entry,
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

export const diamondSchemas: Readonly<Record<string, EventSchema>> = {
  DiamondCreated: {
    version: 1,
    payload: z.object({
      id,
      owner: id,
      date: z.int(),
      set: fields.partial().required({ sku: true, cutShape: true, carat: true }),
    }),
    upcasters: [],
  },
  DiamondPatched: {
    version: 1,
    payload: z.object({ set: fields.partial(), removed: z.array(fields.keyof()) }),
    upcasters: [],
  },
  DiamondDeleted: { version: 1, payload: z.object({}), upcasters: [] },
  DiamondScored: { version: 1, payload: z.object({ id, revision: z.int().min(0), scores }), upcasters: [] },
}
