import { Semaphore } from '../../runtime/fairness/semaphores.ts'
import { StoreUnavailable } from '../ports/event-store.ts'
import { isUnacknowledged } from './failure.ts'

/** Of the connections, so many may be in use for what requests change: the others are for reading. */
const SHARE = 0.6

type Caller = { readonly hasGone: boolean }

/**
 * Places for calls that change something. A write waits for a majority of the servers, and where that hangs, it keeps its
 * connection: without places, writes would soon hold all of them, and nothing could be read. While no majority
 * acknowledges anything, one write at a time tries whether it does again, and the others are refused at once.
 */
export class WritePlaces {
  readonly #places: number
  #underWay = 0
  #isHung = false
  readonly #permits: Semaphore

  /** @param connections 0 for any number of them */
  constructor(
    connections: number,
    private readonly server: string,
  ) {
    this.#places = connections === 0 ? Infinity : Math.max(1, Math.floor(connections * SHARE))
    this.#permits = new Semaphore(this.#places)
  }

  /**
   * @param caller where it has gone, nothing is begun
   * @throws StoreUnavailable, or what the action throws
   */
  async run<Result>(action: () => Promise<Result>, caller: Caller): Promise<Result> {
    if (this.#isHung && this.#underWay > 0) throw this.#refusal()
    return this.#permits.run(() => this.#tried(action, caller))
  }

  async #tried<Result>(action: () => Promise<Result>, caller: Caller): Promise<Result> {
    this.#underWay++
    try {
      if (caller.hasGone || (this.#isHung && this.#underWay > 1)) throw this.#refusal()
      const result = await action()
      this.#isHung = false
      return result
    } catch (error) {
      if (isUnacknowledged(error)) this.#isHung = true
      throw error
    } finally {
      this.#underWay--
    }
  }

  #refusal(): StoreUnavailable {
    return new StoreUnavailable(
      `MongoDB at ${this.server} takes no more writes now: ` +
        (this.#isHung ? 'no majority of its members acknowledges them' : `${this.#places} are under way`),
    )
  }
}
