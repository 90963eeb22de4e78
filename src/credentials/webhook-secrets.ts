import { createHmac, randomBytes } from 'node:crypto'
import type { MasterKeys } from './master-keys.ts'
import { MasterSeal } from './sealing.ts'

const PREFIX = 'whsec_'
const BYTES = 32
/** Of the master key that sealed it: what a seal begins with. */
const KEY_ID_BYTES = 8

/** The secrets that webhooks are signed with: sealed by the master key, since signing needs them as they are. */
export class WebhookSecrets {
  readonly #seal: MasterSeal
  readonly #current: string

  constructor(keys: MasterKeys) {
    this.#seal = new MasterSeal(keys, 'webhook')
    this.#current = keys.current.id
  }

  /** `whsec_` and 32 random bytes in base64. */
  make(): string {
    return PREFIX + randomBytes(BYTES).toString('base64')
  }

  /** @param webhook the seal opens for no other one */
  seal(secret: string, webhook: number): string {
    return this.#seal.seal(Buffer.from(secret), contextOf(webhook)).toString('base64url')
  }

  /** @throws SealedByAnotherKey */
  open(sealed: string, webhook: number): string {
    return this.#seal.open(Buffer.from(sealed, 'base64url'), contextOf(webhook)).toString()
  }

  /** False for what a former master key has sealed. */
  isCurrent(sealed: string): boolean {
    return Buffer.from(sealed, 'base64url').subarray(0, KEY_ID_BYTES).toString('hex') === this.#current
  }
}

const contextOf = (webhook: number) => `webhook-${webhook}`

/** What is signed: Standard Webhooks, "id.timestamp.body". @property timestamp seconds since 1970 */
export type SignedMessage = { readonly id: string; readonly timestamp: number; readonly body: string }

/** The header of Standard Webhooks: one signature a secret, separated by blanks. */
export const signatureHeaderOf = (secrets: readonly string[], { id, timestamp, body }: SignedMessage): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    })
    .join(' ')
