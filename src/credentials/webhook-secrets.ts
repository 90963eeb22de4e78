import { createHmac, randomBytes } from 'node:crypto'
import type { MasterKeys } from './master-keys.ts'
import { MasterSeal } from './sealing.ts'

const PREFIX = 'whsec_'
const BYTES = 32
/** A sealed value starts with the id of the master key. */
const KEY_ID_BYTES = 8

/** The signing secrets of webhooks. They are sealed rather than hashed, because signing needs the plain value. */
export class WebhookSecrets {
  readonly #seal: MasterSeal
  readonly #current: string

  constructor(keys: MasterKeys) {
    this.#seal = new MasterSeal(keys, 'webhook')
    this.#current = keys.current.id
  }

  /** `whsec_` and 32 random bytes in base64. */
  generate(): string {
    return PREFIX + randomBytes(BYTES).toString('base64')
  }

  /** @param webhook the webhook's id: the result opens for no other webhook */
  seal(secret: string, webhook: number): string {
    return this.#seal.seal(Buffer.from(secret), contextOf(webhook)).toString('base64url')
  }

  /** @throws SealedByAnotherKey */
  open(sealed: string, webhook: number): string {
    return this.#seal.open(Buffer.from(sealed, 'base64url'), contextOf(webhook)).toString()
  }

  /** Returns false if an earlier master key sealed it. */
  isCurrent(sealed: string): boolean {
    return Buffer.from(sealed, 'base64url').subarray(0, KEY_ID_BYTES).toString('hex') === this.#current
  }
}

const contextOf = (webhook: number) => `webhook-${webhook}`

/** The signed content of Standard Webhooks: `id.timestamp.body`. @property timestamp seconds since 1970 */
type SignedMessage = { readonly id: string; readonly timestamp: number; readonly body: string }

/** The `webhook-signature` header of Standard Webhooks: one signature per secret, separated by spaces. */
export const signatureHeaderOf = (secrets: readonly string[], { id, timestamp, body }: SignedMessage): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    })
    .join(' ')
