import { derive } from './digests.ts'
import type { MasterKeys } from './master-keys.ts'
import type { PassphraseRequest, ScryptCost, PassphraseKdf, PassphraseSlot } from './passphrase-kdf.ts'
import { decrypt, encrypt, MasterSeal } from './sealing.ts'
import type { SecretKeys } from './secret-keys.ts'

/** The inner layer of a sealed value. It can only be opened with the secret key. */
export type InnerSealedValue = { readonly passphrase: ScryptCost | undefined; readonly sealed: Buffer }

type SecretBoxKeys = Pick<SecretKeys, 'secretKey' | 'digest'>

/** First byte of the inner layer: its format. */
const PLAIN = 1
const WITH_PASSPHRASE = 2
const COST_BYTES = 3

/**
 * Seals secret values for the vault, in two layers. The inner one is AES-256-GCM with a key derived from the secret key
 * and, through scrypt, the passphrase; its tag is the only check of both. The outer one is AES-256-GCM with a key
 * derived from the master key. Neither the vault together with the master key nor a link alone is enough to read a
 * secret.
 */
export class SecretBox {
  readonly #seal: MasterSeal
  readonly #passphrases: PassphraseKdf
  readonly #cost: ScryptCost

  constructor(keys: MasterKeys, passphrases: PassphraseKdf, cost: ScryptCost) {
    this.#seal = new MasterSeal(keys, 'vault')
    this.#passphrases = passphrases
    this.#cost = cost
  }

  /** @throws RequestError 'too-many' if too many passphrases wait for key derivation */
  async seal(
    value: string,
    keys: SecretBoxKeys,
    passphrase: string,
    request: Omit<PassphraseRequest, 'purpose'> = {},
  ): Promise<Buffer> {
    const plain = Buffer.from(value)
    if (passphrase === '') {
      return this.#sealOuter(Buffer.concat([Buffer.of(PLAIN), encrypt(innerKey(keys), plain, keys.digest)]), keys)
    }
    const { N, r, p } = this.#cost
    const stretched = await this.acquireSlot({ ...request, purpose: 'share' }).deriveKey(
      passphrase,
      saltOf(keys),
      this.#cost,
    )
    const header = Buffer.of(WITH_PASSPHRASE, Math.log2(N), r, p)
    return this.#sealOuter(Buffer.concat([header, encrypt(innerKey(keys, stretched), plain, keys.digest)]), keys)
  }

  /** @throws SealedByAnotherKey */
  openOuter(sealed: Buffer, digest: string): InnerSealedValue {
    const inner = this.#seal.open(sealed, digest)
    if (inner[0] === PLAIN) return { passphrase: undefined, sealed: inner.subarray(1) }
    const [logN = 0, r = 0, p = 0] = inner.subarray(1, 1 + COST_BYTES)
    return { passphrase: { N: 2 ** logN, r, p }, sealed: inner.subarray(1 + COST_BYTES) }
  }

  /** A slot for trying a passphrase. @throws RequestError 'too-many' */
  acquireSlot(request: PassphraseRequest): PassphraseSlot {
    return this.#passphrases.acquireSlot(request)
  }

  /** Returns undefined if a key is wrong or the value is damaged. */
  open({ sealed }: InnerSealedValue, keys: SecretBoxKeys): string | undefined {
    return decrypt(innerKey(keys), sealed, keys.digest)?.toString()
  }

  /** Returns undefined for a wrong passphrase. Releases the slot. */
  async openWithPassphrase(
    slot: PassphraseSlot,
    passphrase: string,
    inner: InnerSealedValue,
    keys: SecretBoxKeys,
  ): Promise<string | undefined> {
    const stretched = await slot.deriveKey(passphrase, saltOf(keys), inner.passphrase ?? this.#cost)
    return decrypt(innerKey(keys, stretched), inner.sealed, keys.digest)?.toString()
  }

  #sealOuter(inner: Buffer, { digest }: SecretBoxKeys): Buffer {
    return this.#seal.seal(inner, digest)
  }
}

const innerKey = ({ secretKey }: SecretBoxKeys, stretched: Buffer = Buffer.alloc(0)): Buffer =>
  derive(Buffer.concat([Buffer.from(secretKey), stretched]), 'vault')

/** As random as the secret key, and not stored either. */
const saltOf = ({ secretKey }: SecretBoxKeys): Buffer => derive(secretKey, 'passphrase-salt', 16)
