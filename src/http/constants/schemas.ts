import { z } from 'zod'
import { DICTIONARIES } from '../../domain/diamond/fields.ts'
import { scoringGrades, type ScoringName } from '../../domain/dictionaries/scoring-constants.ts'

const id = z.int().min(1)
const title = z.string()

const SHAPE = z.strictObject({ id, title }).meta({ id: 'CutShape' })

export const CUT_SHAPE_TREE = z.array(
  z.strictObject({ id, title, children: z.array(SHAPE) }).meta({ id: 'CutShapeWithVariants' }),
)

export const CUT_SHAPE_DETAIL = z
  .strictObject({
    id,
    title,
    parent: z.int().nullable().describe('The id of the shape of which it is a variant.'),
    aliases: z.array(z.string()).describe('Other names that input may use.'),
    children: z.array(SHAPE).describe('Its variants.'),
  })
  .meta({ id: 'CutShapeDetail' })

const ENTRY = z.object({
  id,
  title,
  short: z.string(),
  position: z.int().describe('On its scale: lists are in ascending position.'),
  abbreviation: z.string().optional(),
})

const DICTIONARY_ENTRY = ENTRY.extend({
  children: z.array(ENTRY).optional().describe('Neighbours of a hue.'),
}).meta({ id: 'DictionaryEntry' })

const ver = z.string().describe('The version of the model that computes it.')
const grades = z.array(z.number()).length(6).describe('Upper bounds of the grades P, F, G, VG, EX and OU.')

/** A schema for each of these names. */
const each = <Name extends string, Schema>(names: readonly Name[], schema: Schema) =>
  Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>

export const CONSTANTS = z
  .strictObject({
    ver: z.string().describe('The release, as in X-App-Version.'),
    dict: z.strictObject({
      cutShape: z.array(SHAPE),
      ...each(Object.keys(DICTIONARIES) as (keyof typeof DICTIONARIES)[], z.array(DICTIONARY_ENTRY)),
    }),
    scoring: z.strictObject({
      fluorescence: z.strictObject({ ver }),
      ...each(Object.keys(scoringGrades) as ScoringName[], z.strictObject({ grades, ver })),
    }),
  })
  .meta({ id: 'Constants' })
