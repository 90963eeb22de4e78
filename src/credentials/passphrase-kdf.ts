import { RequestError } from '../domain/request-error.ts'
import { FairThread } from '../runtime/fairness/fair-thread.ts'
import { startWorker } from '../runtime/start-worker.ts'
import { networkOf } from './failed-attempt-limiter.ts'

/**
 * scrypt with 32 MiB: about 80 ms on one core (https://www.rfc-editor.org/rfc/rfc7914). Stored in every sealed secret.
 */
export type ScryptCost = { readonly N: number; readonly r: number; readonly p: number }
export const SCRYPT_COST: ScryptCost = { N: 2 ** 15, r: 8, p: 1 }

/** One derivation runs and 32 wait: about 3 s at 80 ms each. Further requests are rejected. */
const MAX_QUEUED = 1 + 32

/** `read` takes precedence over `share`, because a reader can less easily come back later. */
export type PassphraseRequest = {
  readonly purpose: 'read' | 'share'
  /** Undefined for unauthenticated requests: a secret's key suffices to read it. */
  readonly account?: number | undefined
  /** Undefined for the operator. */
  readonly address?: string | undefined
}

/** A place in the queue, acquired before an attempt is recorded. */
export type PassphraseSlot = {
  /** Derives 32 bytes from the passphrase, and releases the slot. */
  deriveKey(passphrase: string, salt: Buffer, cost: ScryptCost): Promise<Buffer>
  release(): void
}

export type PassphraseKdfTask = { readonly text: string; readonly salt: Uint8Array; readonly cost: ScryptCost }

/**
 * Key derivation from passphrases. It runs one at a time per process, on a thread with low priority, so that it delays
 * no requests and uses the memory of one derivation. Waiting requests are scheduled fairly among accounts and
 * addresses.
 */
export class PassphraseKdf {
  readonly #thread = new FairThread<PassphraseKdfTask, Uint8Array>(
    () => startWorker('./passphrase-worker', import.meta.url),
    MAX_QUEUED,
  )

  /** @throws RequestError 'too-many' if all slots are in use, or too many by this account or from this address */
  acquireSlot(request: PassphraseRequest): PassphraseSlot {
    const slot = this.#thread.acquireSlot(namesOf(request))
    if (slot === undefined) throw new RequestError('too-many', 'Too many passphrases at this moment; try again', 5)
    return {
      release: () => slot.release(),
      async deriveKey(passphrase, salt, cost) {
        // Keyboards encode the same character in different ways (NFC, NFD), so the passphrase is normalized.
        const task = { text: passphrase.normalize('NFKC'), salt, cost }
        return Buffer.from(await slot.run(task, request.purpose === 'read'))
      },
    }
  }

  /** Rejects all waiting requests. */
  close(): Promise<void> {
    return this.#thread.close()
  }
}

function namesOf({ account, address }: PassphraseRequest): string[] {
  if (address === undefined) return []
  const network = networkOf(address)
  // Unauthenticated requests from one network count as one more account there.
  return [`address ${network}`, account === undefined ? `nobody at ${network}` : `account ${account}`]
}
