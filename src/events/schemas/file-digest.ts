import { z } from 'zod'

/** What names the bytes of a file in events. */
export const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 of the file')
