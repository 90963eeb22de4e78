import { z } from 'zod'
import { declareEvents, type EventOf } from '../event.ts'

const sealedKey = z.object({
  key: z.string().describe('id of the master key'),
  sealed: z.string().describe('nonce, AES-256-GCM ciphertext and tag, base64url'),
})

/** The stream of the key that signs links and tokens. */
export const LINK_KEY_STREAM = 'keys-link'

/** The stream of the key that signs checkpoints. */
export const LOG_KEY_STREAM = 'keys-log'

/** The stream of signed checkpoints. A move copies it with the log, so that no conflicting checkpoint is ever signed. */
export const CHECKPOINTS_STREAM = 'checkpoints'

/** Keys, encrypted with a master key. The key for persons is created once and never replaced. */
export const keyEvents = {
  ...declareEvents(LINK_KEY_STREAM, {
    LinkKeySealed: {
      about:
        'The key that signs links and tokens was created, re-encrypted with another master key, or replaced by a new key.',
      payload: sealedKey.extend({
        since: z.int().optional().describe('milliseconds since 1970, UTC; present if the key replaced another one'),
      }),
      notShown: ['sealed'],
    },
  }),
  ...declareEvents(LOG_KEY_STREAM, {
    LogKeySealed: {
      about: "The key that signs the log's checkpoints was created, or re-encrypted with another master key.",
      payload: sealedKey,
      notShown: ['sealed'],
    },
  }),
  ...declareEvents(CHECKPOINTS_STREAM, {
    CheckpointSigned: {
      about: "A checkpoint of the log's Merkle tree was signed. Each checkpoint extends the one before.",
      payload: z.object({
        checkpoint: z
          .string()
          .describe('signed note with origin, tree size, root hash and signature; C2SP tlog-checkpoint'),
      }),
    },
  }),
  ...declareEvents('keys-persons', {
    PersonKeySealed: {
      about:
        'The key that derives log-in stream names and encrypts addresses was created, or re-encrypted with another master key.',
      payload: sealedKey,
      notShown: ['sealed'],
    },
  }),
}
type KeyEventDeclarations = typeof keyEvents
export type LinkKeySealed = EventOf<KeyEventDeclarations, 'LinkKeySealed'>
export type LogKeySealed = EventOf<KeyEventDeclarations, 'LogKeySealed'>
export type CheckpointSigned = EventOf<KeyEventDeclarations, 'CheckpointSigned'>
export type PersonKeySealed = EventOf<KeyEventDeclarations, 'PersonKeySealed'>
