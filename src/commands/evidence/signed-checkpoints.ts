import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import { newestOf } from '../../domain/decider.ts'
import {
  CHECKPOINTS_STREAM,
  LOG_KEY_STREAM,
  type CheckpointSigned,
  type LogKeySealed,
} from '../../domain/installation/keys.ts'
import type { Origin } from '../../events/origin.ts'
import type { Revision } from '../../stores/ports/event-store.ts'
import { handle, type Writing } from '../core/handle.ts'
import { openSealedKey, type KeyKind } from '../installation/link-key.ts'

/** What stands before the 32 bytes of an Ed25519 private key in DER: RFC 8410, 7. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

const LOG_KEY: KeyKind<LogKeySealed> = {
  stream: LOG_KEY_STREAM,
  type: 'LogKeySealed',
  purpose: 'log-key',
  origin: { actor: 'service', via: 'projection', correlation: 'log-key' },
}

/**
 * The Ed25519 key that signs the log's checkpoints: one for all instances, which moves and rotations of the master key
 * leave as it is.
 * @returns undefined where there is none, and the log takes no more events
 * @throws WrongMasterKey, StoreUnavailable
 */
export async function openLogKey(writing: Writing, keys: MasterKeys): Promise<KeyObject | undefined> {
  const { root, revision } = await openSealedKey(writing, keys, LOG_KEY)
  if (revision < 0n) return undefined
  return createPrivateKey({ key: Buffer.concat([PKCS8, root]), format: 'der', type: 'pkcs8' })
}

const ORIGIN: Origin = { actor: 'service', via: 'projection', correlation: 'checkpoint' }

/**
 * Makes a checkpoint known, as the one behind `last`: of two processes that sign at once, one does.
 * @returns false when another process was first
 * @throws LogClosed, StoreUnavailable
 */
export async function keepSigned(writing: Writing, note: string, last: Revision): Promise<boolean> {
  const signed: CheckpointSigned = { type: 'CheckpointSigned', data: { checkpoint: note } }
  const wish = { stream: CHECKPOINTS_STREAM, origin: ORIGIN }
  const decide = (_state: unknown, _now: number, revision: Revision) => (revision === last ? [signed] : [])
  return (await handle(writing, wish, newestOf<CheckpointSigned>('CheckpointSigned'), decide)).events.length > 0
}
