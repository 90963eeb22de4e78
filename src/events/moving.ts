import { z } from 'zod'
import { first } from './event-schema.ts'

const copy = z.string().describe('id of the move')
export const movingSchemas = {
  LogCreated: first(z.object({ identity: z.string() })),
  LogFenced: first(z.object({ copy, to: z.string().describe('the other installation, for people') })),
  LogOpened: first(z.object({ copy })),
  CopyBegun: first(
    z.object({
      copy,
      from: z.string().describe('the source, for people'),
      log: z.string().describe('identity of the source'),
      replay: z.literal(true).optional().describe('it is filled to a past moment, to be looked at'),
    }),
  ),
  CopyDone: first(
    z.object({ copy, events: z.int().min(0), digest: z.string().describe('SHA-256 over all events in their order') }),
  ),
  CopyAbandoned: first(z.object({ copy })),
  ReplayMade: first(
    z.object({
      copy: z.string().describe('id of the replay'),
      until: z.string().describe('the moment, for people'),
      events: z.int().min(0).describe("how many of the source's events it has"),
    }),
  ),
}
