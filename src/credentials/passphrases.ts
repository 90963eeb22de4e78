import { scrypt } from 'node:crypto'
import { Refusal } from '../domain/refusal.ts'

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

/** Stretches passphrases, one at a time a process: outside the event loop, and never more memory than one takes. */
export class Passphrases {
  #taken = 0
  #last: Promise<unknown> = Promise.resolve()

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
      stretch: (passphrase, salt, cost) => this.#next(() => stretched(passphrase, salt, cost)).finally(leave),
    }
  }

  #next<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(task, task)
    this.#last = result.catch(() => undefined)
    return result
  }
}

/** Keyboards write the same letter in several ways (NFC, NFD): the passphrase is what it looks like. */
function stretched(passphrase: string, salt: Buffer, { N, r, p }: Cost): Promise<Buffer> {
  const text = passphrase.normalize('NFKC')
  return new Promise((done, fail) => {
    scrypt(text, salt, 32, { N, r, p, maxmem: 256 * N * r }, (error, key) => (error === null ? done(key) : fail(error)))
  })
}
