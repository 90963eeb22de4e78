/** The key that signs links, sealed by a master key. */
export type LinkKeySealed = {
  readonly type: 'LinkKeySealed'
  /** key: the master key's id. sealed: nonce, AES-256-GCM ciphertext and tag, base64url. */
  readonly data: {
    readonly key: string
    readonly sealed: string
    /** When this key took the place of another one, in milliseconds since 1970; the first one took nobody's. */
    readonly since?: number
  }
}

/** The key that names log-ins and seals addresses, sealed by a master key. It is made once, and never another one. */
export type PersonKeySealed = {
  readonly type: 'PersonKeySealed'
  /** key: the master key's id. sealed: nonce, AES-256-GCM ciphertext and tag, base64url. */
  readonly data: { readonly key: string; readonly sealed: string }
}

/**
 * What shows to outsiders that the log is what it was: roots of its hash tree, signed one after another, each an
 * extension of the one before.
 */

/** The stream of what was signed. It is copied with the log, so that nothing else is ever signed in its name. */
export const CHECKPOINTS_STREAM = 'checkpoints'

/** The stream of the key that signs. */
export const LOG_KEY_STREAM = 'keys-log'

/** The root of the hash tree over the log up to some place before this event was signed and made known. */
export type CheckpointSigned = {
  readonly type: 'CheckpointSigned'
  /** checkpoint: the signed note, as GET /log/checkpoint answers it. */
  readonly data: { readonly checkpoint: string }
}

/** The key that signs checkpoints, sealed by a master key. */
export type LogKeySealed = {
  readonly type: 'LogKeySealed'
  /** key: the master key's id. sealed: nonce, AES-256-GCM ciphertext and tag, base64url. */
  readonly data: { readonly key: string; readonly sealed: string }
}
