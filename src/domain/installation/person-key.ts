/** The key that names log-ins and seals addresses, sealed by a master key. It is made once, and never another one. */
export type PersonKeySealed = {
  readonly type: 'PersonKeySealed'
  /** key: the master key's id. sealed: nonce, AES-256-GCM ciphertext and tag, base64url. */
  readonly data: { readonly key: string; readonly sealed: string }
}
