import { z } from 'zod'
import { first } from './event-schema.ts'

const integer = z.int().min(1)

export const idsSchemas = {
  IdsReserved: first(z.object({ from: integer, to: integer.describe('the last one, included') })),
}
