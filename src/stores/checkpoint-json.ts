import { z } from 'zod'

const position = z.object({ commit: z.coerce.bigint(), prepare: z.coerce.bigint() })

/** A checkpoint as JSON, whose positions are strings. */
export const storedCheckpoint = z.object({
  position: z.union([z.literal('start'), position]),
  log: z.string(),
  event: z.object({ id: z.string(), position }).nullable(),
})

/** JSON has no bigint. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) => (typeof member === 'bigint' ? String(member) : member))
