import { Refusal } from '../../domain/refusal.ts'

/** Requests of one account that may wait at a time: each holds a connection. */
const PLACES = 20

/** Seconds after which one of them may have ended. */
const RETRY_AFTER = 5

/** Bounds how many requests of an account wait for changes. */
export class WaitingPlaces {
  readonly #taken = new Map<number, number>()

  /** @returns gives the place back, once @throws Refusal too-many */
  take(account: number): () => void {
    const taken = this.#taken.get(account) ?? 0
    if (taken >= PLACES) {
      throw new Refusal('too-many', `${PLACES} requests of this account wait for changes already`, RETRY_AFTER)
    }
    this.#taken.set(account, taken + 1)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      const left = (this.#taken.get(account) ?? 1) - 1
      if (left === 0) this.#taken.delete(account)
      else this.#taken.set(account, left)
    }
  }
}
