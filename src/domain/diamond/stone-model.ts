import { z } from 'zod'
import { fileDigest } from '../certification/certification.ts'
import { declareEvents, type EventOf, type SchemaOutput } from '../event.ts'
import { MESH_FORMATS } from '../../optics/mesh/mesh.ts'
import type { StoneModelProperties } from '../../optics/stone-model-tracing.ts'
import type { DiamondFields } from './fields.ts'

const millimetres = z.number().positive()

const modelPropertiesSchema = z.object({
  format: z.enum(MESH_FORMATS),
  facets: z.int().min(1).describe('number of facets in the file'),
  planes: z
    .object({ count: z.int().min(1), within: z.number().positive() })
    .describe(
      'number of planes used for ray tracing, and the angle in degrees within which neighbouring facets were merged into one plane',
    ),
  carat: z.number().positive().describe('weight in carats, computed from the volume'),
  measurements: z.object({ length: millimetres, width: millimetres, depth: millimetres }).describe('millimetres'),
}) satisfies z.ZodType<StoneModelProperties>

const stoneModel = modelPropertiesSchema.extend({ file: z.object({ digest: fileDigest, bytes: z.int().min(1) }) })

/** A stone's own 3D model, as measured by a scanner. The file's bytes are in the file store, under their digest. */
export type StoneModel = SchemaOutput<typeof stoneModel>

export const stoneModelEvents = declareEvents('diamond-{id}', {
  StoneModelAttached: {
    about: 'The owner attached a 3D model of the stone. Scores are computed by ray tracing of this model.',
    payload: stoneModel,
  },
  /** The garbage collector deletes the file unless something else refers to it. */
  StoneModelRemoved: {
    about: 'The 3D model was removed, or replaced by another one.',
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

/** Maximum relative difference between the weight from the volume and the stated carat, plus binary rounding. */
const CARAT_TOLERANCE = 0.02 + 1e-9

/** Degrees. Coordinates with few decimals tilt the triangles of one facet against each other by up to this angle. */
const MAX_FACET_TILT_DEGREES = 0.05

/** Human-readable differences between a model and its diamond, one sentence each. */
export function modelWarnings({ carat, planes }: StoneModelProperties, fields: Pick<DiamondFields, 'carat'>): string[] {
  const warnings: string[] = []
  if (Math.abs(carat - fields.carat) > CARAT_TOLERANCE * fields.carat)
    warnings.push(`The model's volume is that of a diamond of ${carat} carats, not of ${fields.carat}`)
  if (planes.within > MAX_FACET_TILT_DEGREES)
    warnings.push(
      `Scores are computed from ${planes.count} planes: the model has more, so neighbouring facets within ${planes.within}° were merged`,
    )
  return warnings
}
