import { derive } from './digests.ts'
import type { MasterKeys } from './master-keys.ts'
import type { PassphraseRequest, ScryptCost, PassphraseKdf, PassphraseSlot } from './passphrase-kdf.ts'
import { decrypt, encrypt, MasterSeal } from './sealing.ts'
import type { SecretKeys } from './secret-keys.ts'

/** A sealed value with its outer layer taken off: what is left opens only for who has the key. */
export type InnerSealedValue = { readonly passphrase: ScryptCost | undefined; readonly sealed: Buffer }

type SecretBoxKeys = Pick<SecretKeys, 'secretKey' | 'digest'>

/** First byte of the inner layer: how it is made. */
const PLAIN = 1
const WITH_PASSPHRASE = 2
const COST_BYTES = 3

/**
 * What the vault keeps of a secret. Inside, AES-256-GCM by the secret key, and the passphrase through scrypt: the tag
 * decides whether both are right, no other check is stored. Outside, AES-256-GCM by the master key. A stolen disk opens
 * nothing, master key and all; a stolen link opens nothing without the service.
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

  /** @throws Refusal too-many when too many passphrases wait */
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

  /** A place among those whose passphrase is to be tried. @throws Refusal too-many */
  acquireSlot(request: PassphraseRequest): PassphraseSlot {
    return this.#passphrases.acquireSlot(request)
  }

  /** undefined where a key is wrong, which can't be told from a damaged value. */
  open({ sealed }: InnerSealedValue, keys: SecretBoxKeys): string | undefined {
    return decrypt(innerKey(keys), sealed, keys.digest)?.toString()
  }

  /** undefined for a wrong passphrase. The place is left. */
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

/** Random as the key is, and not stored either. */
const saltOf = ({ secretKey }: SecretBoxKeys): Buffer => derive(secretKey, 'passphrase-salt', 16)
