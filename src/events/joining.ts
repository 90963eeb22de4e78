import { z } from 'zod'
import { first } from './event-schema.ts'

export const joiningSchemas = {
  StoresJoined: first(
    z.object({
      vault: z.string().describe('identity of the vault'),
      files: z.string().describe('identity of the files'),
      place: z.string().describe('where they were, for people'),
    }),
  ),
}
