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
