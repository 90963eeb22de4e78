import { z } from 'zod'
import { fileDigest } from '../certification/certification.ts'
import { declareEvents, type EventOf, type SchemaOutput } from '../event.ts'
import type { DiamondFields } from './fields.ts'

/** The 3D files that are read. */
export const MODEL_FORMATS = ['OFF', 'STL', 'OBJ'] as const

export type ModelFormat = (typeof MODEL_FORMATS)[number]

const millimetres = z.number().positive()

const modelPropertiesSchema = z.object({
  format: z.enum(MODEL_FORMATS),
  facets: z.int().min(1).describe('as the file has them'),
  planes: z
    .object({ count: z.int().min(1), within: z.number().positive() })
    .describe('how many light is traced from, and within how many degrees neighbouring facets were taken for one'),
  carat: z.number().positive().describe('by its volume'),
  measurements: z.object({ length: millimetres, width: millimetres, depth: millimetres }).describe('millimetres'),
})

const stoneModel = modelPropertiesSchema.extend({ file: z.object({ digest: fileDigest, bytes: z.int().min(1) }) })

/** What a 3D file says of its stone's body; the longer side from above is its length. */
export type StoneModelProperties = SchemaOutput<typeof modelPropertiesSchema>
/** A stone's own body, as a scanner measured it. The file's bytes are with the Files port, under their digest. */
export type StoneModel = SchemaOutput<typeof stoneModel>

export const stoneModelEvents = declareEvents('diamond-{id}', {
  StoneModelAttached: {
    about: 'The owner attached a 3D file of the stone: its scores are traced from its own facets.',
    payload: stoneModel,
  },
  /** Its file is collected when nothing else uses it. */
  StoneModelRemoved: {
    about: 'It was removed, or another one took its place.',
    payload: z.object({ digest: fileDigest }),
  },
})
export type StoneModelEvent = EventOf<typeof stoneModelEvents>
export type StoneModelAttached = EventOf<typeof stoneModelEvents, 'StoneModelAttached'>
export type StoneModelRemoved = EventOf<typeof stoneModelEvents, 'StoneModelRemoved'>

export const stoneModelRemovedEvent = ({ file: { digest } }: StoneModel): StoneModelRemoved => ({
  type: 'StoneModelRemoved',
  data: { digest },
})

/** Share of the weight by which a body's volume may differ from it, and what binary adds. */
const CARAT_TOLERANCE = 0.02 + 1e-9

/** Degrees between triangles of one facet that coordinates with few decimals make. */
const FLAT = 0.05

/** What of a body does not fit its stone, as people read it, a sentence each. */
export function modelWarnings({ carat, planes }: StoneModelProperties, fields: Pick<DiamondFields, 'carat'>): string[] {
  const warnings: string[] = []
  if (Math.abs(carat - fields.carat) > CARAT_TOLERANCE * fields.carat)
    warnings.push(`The model's volume is that of a diamond of ${carat} carats, not of ${fields.carat}`)
  if (planes.within > FLAT)
    warnings.push(
      `Light is traced from ${planes.count} planes: the model has more, so neighbours within ${planes.within}° were taken for one`,
    )
  return warnings
}
