import { z } from 'zod'
import type { DiamondFields } from '../domain/diamond/fields.ts'
import { MESH_FORMATS } from '../optics/mesh/mesh.ts'
import { modelWarnings, type StoneModel } from '../domain/diamond/stone-model.ts'

export const MAX_MODEL_BYTES = 20 * 1024 * 1024

/** The path of a diamond's 3D model file, to which a signature is added. */
export const modelPath = (diamond: number | string) => `/v4/diamond/${diamond}/model/file`

const millimetres = z.number().positive()

export const STONE_MODEL = z
  .object({
    format: z.enum(MESH_FORMATS).meta({ id: 'ModelFormat' }),
    facets: z.int().describe('Number of facets in the file.'),
    carat: z.number().describe('Weight in carats of a diamond of this volume, with lengths in millimetres.'),
    measurements: z
      .object({ length: millimetres, width: millimetres, depth: millimetres })
      .describe(
        'Millimetres: length and width seen from above, the longer first; depth from the table to the lowest point.',
      ),
    warnings: z
      .array(z.string())
      .describe('Contradictions between the model and the diamond; empty if there are none.'),
  })
  .meta({ id: 'StoneModel' })

/** Includes a signed link to the file. */
export const STONE_MODEL_WITH_FILE = STONE_MODEL.extend({
  file: z.string().describe('Link to the uploaded file, valid for one day for anyone who has it.'),
}).meta({ id: 'StoneModelWithFile' })

/** @param fields the diamond's fields, to compare with */
export function stoneModelRepresentation(
  model: StoneModel,
  fields: Pick<DiamondFields, 'carat'>,
): z.input<typeof STONE_MODEL> {
  const { format, facets, carat, measurements } = model
  return { format, facets, carat, measurements, warnings: modelWarnings(model, fields) }
}
