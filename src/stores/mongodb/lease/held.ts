import type { Lease } from '../../ports/read-store.ts'
import type { Kind, Mongo } from '../connection.ts'
import { epochsIn, lastIn, type Epoch } from './epochs.ts'

/** Milliseconds between two signs of life of a holder. */
export const BEAT = 500

/**
 * A sign that gets no answer for so long is given again: behind an outage, those who wait must see one before they take
 * the silence for an end (lease.ts).
 */
const SIGN: Kind = { deadline: 1_200, takesPlace: false }

/** A lease that is held, until it is released or another process has taken the next epoch. */
export class HeldLease implements Lease {
  readonly lost: Promise<void>
  readonly #mongo: Mongo
  readonly #ended: () => void
  #epoch: Epoch
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> = Promise.resolve()
  #lose: () => void = () => undefined

  constructor(mongo: Mongo, epoch: Epoch, ended: () => void) {
    this.#mongo = mongo
    this.#epoch = epoch
    this.#ended = ended
    this.lost = new Promise((done) => (this.#lose = done))
    this.#schedule()
  }

  /** Where the store is away, it falls to others by the silence. */
  async release(): Promise<void> {
    this.silence()
    await this.#beating
    // Where that is not heard, the others wait for as long as if this process had been killed.
    await this.#write({ ...this.#epoch, released: true }).catch(() => false)
  }

  silence(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#ended()
  }

  #schedule(): void {
    this.#timer = setTimeout(() => (this.#beating = this.#beat()), BEAT).unref()
  }

  /** A store that is away takes the lease from nobody: no other process can take it either. */
  async #beat(): Promise<void> {
    const next = { ...this.#epoch, beat: this.#epoch.beat + 1 }
    // A sign that fails is followed by the next; that the store is away is told by the work that holds the lease.
    const mine = await this.#write(next).catch(() => undefined)
    if (this.#timer === undefined) return
    if (mine === false) {
      this.silence()
      this.#lose()
      return
    }
    // One whose outcome is unknown may stand there: the next one must differ from it.
    this.#epoch = next
    this.#schedule()
  }

  /** @returns false where there is a later epoch */
  async #write({ _id, ...rest }: Epoch): Promise<boolean> {
    const replaced = await this.#mongo.call(() => epochsIn(this.#mongo).replaceOne({ _id }, rest), SIGN)
    const last = await lastIn(this.#mongo, rest.model, SIGN)
    return replaced.matchedCount === 1 && last?._id === _id
  }
}
