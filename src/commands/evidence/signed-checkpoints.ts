import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import { latestEventFold } from '../../domain/fold.ts'
import {
  CHECKPOINTS_STREAM,
  LOG_KEY_STREAM,
  type CheckpointSigned,
  type LogKeySealed,
} from '../../domain/installation/keys.ts'
import type { Origin } from '../../events/event-metadata.ts'
import type { Revision } from '../../stores/ports/event-store.ts'
import { handle } from '../core/handle.ts'
import type { CommandContext } from '../core/command-context.ts'
import { loadOrCreateSealedKey, type SealedKeyDefinition } from '../installation/link-key.ts'

/** The PKCS #8 prefix of a 32-byte Ed25519 private key in DER (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

const LOG_KEY: SealedKeyDefinition<LogKeySealed> = {
  stream: LOG_KEY_STREAM,
  type: 'LogKeySealed',
  purpose: 'log-key',
  origin: { actor: 'service', via: 'projection', correlation: 'log-key' },
}

/**
 * The Ed25519 key that signs the log's checkpoints, shared by all instances. It survives moves of the log and rotations
 * of the master key.
 * @returns undefined if there is no key yet and the log is closed for appends
 * @throws WrongMasterKey, StoreUnavailable
 */
export async function openLogKey(context: CommandContext, keys: MasterKeys): Promise<KeyObject | undefined> {
  const { root, revision } = await loadOrCreateSealedKey(context, keys, LOG_KEY)
  if (revision < 0n) return undefined
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, root]), format: 'der', type: 'pkcs8' })
}

const ORIGIN: Origin = { actor: 'service', via: 'projection', correlation: 'checkpoint' }

/**
 * Appends a signed checkpoint if the latest one still has revision `lastRevision`, so that only one of several
 * concurrent signers succeeds.
 * @returns false if another process was first
 * @throws LogClosed, StoreUnavailable
 */
export async function appendSignedCheckpoint(
  context: CommandContext,
  note: string,
  lastRevision: Revision,
): Promise<boolean> {
  const signed: CheckpointSigned = { type: 'CheckpointSigned', data: { checkpoint: note } }
  const target = { stream: CHECKPOINTS_STREAM, origin: ORIGIN }
  const decide = (_state: unknown, _now: number, revision: Revision) => (revision === lastRevision ? [signed] : [])
  return (
    (await handle(context, target, latestEventFold<CheckpointSigned>('CheckpointSigned'), decide)).events.length > 0
  )
}
