import { z } from 'zod'
import { declareEvents, type EventOf } from '../event.ts'

const sealedKey = z.object({
  key: z.string().describe('id of the master key'),
  sealed: z.string().describe('nonce, AES-256-GCM ciphertext and tag, base64url'),
})

/** The stream of the key of links and tokens. */
export const LINK_KEY_STREAM = 'keys-link'

/** The stream of the key that signs checkpoints. */
export const LOG_KEY_STREAM = 'keys-log'

/** The stream of what was signed. It is copied with the log, so that nothing else is ever signed in its name. */
export const CHECKPOINTS_STREAM = 'checkpoints'

/** Keys, sealed by a master key. That of persons is made once, and never another one. */
export const keyEvents = {
  ...declareEvents(LINK_KEY_STREAM, {
    LinkKeySealed: {
      about: 'The key that signs links was made, sealed again by another master key, or replaced by a new one.',
      payload: sealedKey.extend({
        since: z.int().optional().describe('milliseconds since 1970, UTC, where it took the place of another key'),
      }),
      notShown: ['sealed'],
    },
  }),
  ...declareEvents(LOG_KEY_STREAM, {
    LogKeySealed: {
      about: "The key that signs the log's checkpoints was made, or sealed again by another master key.",
      payload: sealedKey,
      notShown: ['sealed'],
    },
  }),
  ...declareEvents(CHECKPOINTS_STREAM, {
    CheckpointSigned: {
      about: "The root of the log's hash tree was signed: each is an extension of the one before.",
      payload: z.object({
        checkpoint: z
          .string()
          .describe('the signed note: origin, leaves of the tree, root, signature; C2SP tlog-checkpoint'),
      }),
    },
  }),
  ...declareEvents('keys-persons', {
    PersonKeySealed: {
      about:
        'The key that names log-ins and seals addresses was made, or the same one was sealed again by another master key.',
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
