import { RequestError } from '../domain/decider.ts'
import { FairThread } from '../runtime/fairness/fair-thread.ts'
import { startWorker } from '../runtime/start-worker.ts'
import { networkOf } from './failed-attempt-limiter.ts'

/** scrypt at 32 MiB: some 80 ms of a core, https://www.rfc-editor.org/rfc/rfc7914. Stands in every sealed secret. */
export type ScryptCost = { readonly N: number; readonly r: number; readonly p: number }
export const SCRYPT_COST: ScryptCost = { N: 2 ** 15, r: 8, p: 1 }

/** One is stretched, so many wait for a permit: at 80 ms each that is some 3 s. One more is told to come back. */
const MAX_QUEUED = 1 + 32

/** Whose passphrase it is, and what for: who reads goes before who shares, and can't do it later as well. */
export type PassphraseRequest = {
  readonly purpose: 'read' | 'share'
  /** Undefined for who has shown no credentials: a secret's key suffices to read it. */
  readonly account?: number | undefined
  /** Where the request comes from; undefined for the operator. */
  readonly address?: string | undefined
}

/** A place in the queue, taken before anything is written down about a try. */
export type PassphraseSlot = {
  /** 32 bytes that follow from the passphrase. Ends the place. */
  deriveKey(passphrase: string, salt: Buffer, cost: ScryptCost): Promise<Buffer>
  release(): void
}

/** What the worker is asked for. */
export type PassphraseKdfTask = { readonly text: string; readonly salt: Uint8Array; readonly cost: ScryptCost }

/**
 * Stretches passphrases, one at a time a process: on a thread that gives way to requests, and never more memory than one
 * takes. The places are shared fairly among accounts and addresses.
 */
export class PassphraseKdf {
  readonly #thread = new FairThread<PassphraseKdfTask, Uint8Array>(
    () => startWorker('./passphrase-worker', import.meta.url),
    MAX_QUEUED,
  )

  /** @throws Refusal too-many when all places are taken, or too many of them by this account or from this address */
  acquireSlot(request: PassphraseRequest): PassphraseSlot {
    const slot = this.#thread.acquireSlot(namesOf(request))
    if (slot === undefined) throw new RequestError('too-many', 'Too many passphrases at this moment; try again', 5)
    return {
      release: () => slot.release(),
      async deriveKey(passphrase, salt, cost) {
        // Keyboards write the same letter in several ways (NFC, NFD): the passphrase is what it looks like.
        const task = { text: passphrase.normalize('NFKC'), salt, cost }
        return Buffer.from(await slot.run(task, request.purpose === 'read'))
      },
    }
  }

  /** Whoever still waits is told that the service ends. */
  close(): Promise<void> {
    return this.#thread.close()
  }
}

function namesOf({ account, address }: PassphraseRequest): string[] {
  if (address === undefined) return []
  const network = networkOf(address)
  // Those who show no account are one at their address, beside the accounts there.
  return [`address ${network}`, account === undefined ? `nobody at ${network}` : `account ${account}`]
}
