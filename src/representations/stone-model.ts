import { z } from 'zod'
import type { DiamondFields } from '../domain/diamond/fields.ts'
import { MODEL_FORMATS, modelWarnings, type StoneModel } from '../domain/diamond/stone-model.ts'

/** Bytes of a 3D file at most. */
export const MAX_MODEL_BYTES = 20 * 1024 * 1024

/** Where a stone's 3D file is; a signature behind it opens it. */
export const modelPath = (diamond: number | string) => `/v4/diamond/${diamond}/model/file`

const millimetres = z.number().positive()

/** What is shown of a stone's own body. */
export const STONE_MODEL = z
  .object({
    format: z.enum(MODEL_FORMATS).meta({ id: 'ModelFormat' }),
    facets: z.int().describe('As the file has them.'),
    carat: z.number().describe('The weight of a diamond of its volume, its lengths taken for millimetres.'),
    measurements: z
      .object({ length: millimetres, width: millimetres, depth: millimetres })
      .describe('Millimetres: from above, the longer side first, and from the table to the lowest point.'),
    warnings: z.array(z.string()).describe('What of it does not fit the stone; empty for one that does.'),
  })
  .meta({ id: 'StoneModel' })

/** With the link that opens the file. */
export const STONE_MODEL_WITH_FILE = STONE_MODEL.extend({
  file: z.string().describe('The uploaded file; opens for a day, for anyone who has the address.'),
}).meta({ id: 'StoneModelWithFile' })

/** What is shown of a body. @param fields of its stone, which it may contradict */
export function stoneModelRepresentation(
  model: StoneModel,
  fields: Pick<DiamondFields, 'carat'>,
): z.input<typeof STONE_MODEL> {
  const { format, facets, carat, measurements } = model
  return { format, facets, carat, measurements, warnings: modelWarnings(model, fields) }
}
