import { FairSemaphore } from '../../runtime/fairness/semaphores.ts'

/** Tries under way at a time to receivers that took the last one, and to those that did not. */
const TAKING = 256
const FAILING = 64

/**
 * Where tries wait for their turn. Those who failed the last time have places of their own: any number of receivers that hang
 * keep none of the others waiting, but for the first time that they hang.
 */
export class Places {
  readonly #taking: FairSemaphore
  readonly #failing: FairSemaphore

  constructor({ taking = TAKING, failing = FAILING } = {}) {
    this.#taking = new FairSemaphore(taking)
    this.#failing = new FairSemaphore(failing)
  }

  /** Resolves when this account may try; what it resolves with ends the try. */
  enter(owner: number, hasFailed: boolean): Promise<() => void> {
    const semaphore = hasFailed ? this.#failing : this.#taking
    return semaphore.acquire({ names: [`account-${owner}`], first: false })
  }
}
