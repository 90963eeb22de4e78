import { z } from 'zod'
import type { EventSchema } from './registry.ts'

const integer = z.int().min(1)

export const idsSchemas: Readonly<Record<string, EventSchema>> = {
  IdsReserved: { version: 1, payload: z.object({ from: integer, to: integer }), upcasters: [] },
}
