import { Refusal } from '../domain/refusal.ts'
import { startWorker } from '../start-worker.ts'
import { WorkerPool } from '../worker-pool.ts'

/** scrypt at 32 MiB: some 80 ms of a core, https://www.rfc-editor.org/rfc/rfc7914. Stands in every sealed secret. */
export type Cost = { readonly N: number; readonly r: number; readonly p: number }
export const COST: Cost = { N: 2 ** 15, r: 8, p: 1 }

/** So many wait for their turn; one more is told to come back. */
const QUEUE = 32

/** A place in the queue, taken before anything is written down about a try. */
export type Place = {
  /** 32 bytes that follow from the passphrase. Ends the place. */
  stretch(passphrase: string, salt: Buffer, cost: Cost): Promise<Buffer>
  leave(): void
}

/** What the worker is asked for. */
export type Stretch = { readonly text: string; readonly salt: Uint8Array; readonly cost: Cost }

/**
 * Stretches passphrases, one at a time a process: on a thread that gives way to requests, and never more memory than one
 * takes.
 */
export class Passphrases {
  #taken = 0
  readonly #pool = new WorkerPool<Stretch, Uint8Array>(() => startWorker('./passphrase-worker', import.meta.url), 1)

  /** @throws Refusal too-many when all places are taken */
  enter(): Place {
    if (this.#taken > QUEUE) throw new Refusal('too-many', 'Too many passphrases at this moment; try again', 5)
    this.#taken++
    let inside = true
    const leave = () => {
      if (inside) this.#taken--
      inside = false
    }
    return {
      leave,
      stretch: (passphrase, salt, cost) => this.#stretch(passphrase, salt, cost).finally(leave),
    }
  }

  /** Whoever still waits is told that the service ends. */
  close(): Promise<void> {
    return this.#pool.close()
  }

  /** Keyboards write the same letter in several ways (NFC, NFD): the passphrase is what it looks like. */
  async #stretch(passphrase: string, salt: Buffer, cost: Cost): Promise<Buffer> {
    return Buffer.from(await this.#pool.run({ text: passphrase.normalize('NFKC'), salt, cost }))
  }
}
