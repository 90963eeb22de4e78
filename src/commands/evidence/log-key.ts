import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import { LOG_KEY_STREAM, type LogKeySealed } from '../../domain/installation/keys.ts'
import type { Writing } from '../core/handle.ts'
import { openSealedKey, type KeyKind } from '../installation/sealed-key.ts'

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
