import { z } from 'zod'
import { first } from './event-schema.ts'

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
