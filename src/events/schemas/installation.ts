import { z } from 'zod'
import { first } from './event-schema.ts'

const integer = z.int().min(1)
const copy = z.string().describe('id of the move')

/** What an installation says of itself: its log, stores, keys, and what operators did to it. */
export const installationSchemas = {
  IdsReserved: first(z.object({ from: integer, to: integer.describe('the last one, included') })),
  StoresJoined: first(
    z.object({
      vault: z.string().describe('identity of the vault'),
      files: z.string().describe('identity of the files'),
      place: z.string().describe('where they were, for people'),
    }),
  ),
  LinkKeySealed: first(
    z.object({
      key: z.string().describe('id of the master key'),
      sealed: z.string().describe('nonce, AES-256-GCM ciphertext and tag, base64url'),
      since: z.int().optional().describe('milliseconds since 1970, UTC, where it took the place of another key'),
    }),
  ),
  PersonKeySealed: first(
    z.object({
      key: z.string().describe('id of the master key'),
      sealed: z.string().describe('nonce, AES-256-GCM ciphertext and tag, base64url'),
    }),
  ),
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
  LogRestored: first(z.object({ epoch: z.int().min(1).describe('higher than any that the log has had') })),
  RetryRequested: first(
    z.object({
      model: z.string().describe('name of the read model or the reaction'),
      streams: z.array(z.string()).describe('at most 100'),
    }),
  ),
}

export const evidenceSchemas = {
  CheckpointSigned: first(
    z.object({
      checkpoint: z
        .string()
        .describe('the signed note: origin, leaves of the tree, root, signature; C2SP tlog-checkpoint'),
    }),
  ),
  LogKeySealed: first(
    z.object({
      key: z.string().describe('id of the master key'),
      sealed: z.string().describe('nonce, AES-256-GCM ciphertext and tag, base64url'),
    }),
  ),
}

const body = z.string().describe('digest of what was asked for')
const diamonds = z.array(z.int().min(1)).describe('ids of what it makes or changes')
const event = z.object({
  id: z.uuid(),
  type: z.string(),
  schema: z.string().optional().describe("version of the event's payload; 1 where it is not told"),
  data: z.record(z.string(), z.unknown()),
})
const change = z.object({
  stream: z.string(),
  expected: z.int().min(0).nullable().describe('revision of the stream before; null for none'),
  events: z.array(event).min(1),
})
const part = z.int().min(1).describe('counted from 1')

export const requestSchemas = {
  RequestAccepted: first(z.object({ body, diamonds, part, parts: part, changes: z.array(change) })),
  RequestDone: first(z.object({ body, diamonds })),
}
