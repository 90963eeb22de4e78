import { RequestError } from '../../domain/request-error.ts'

const RETRY_AFTER_SECONDS = 5

/** Limits the concurrent requests of each account that last long. */
export class AccountSlots {
  readonly #used = new Map<number, number>()

  /** @param requests for the error, such as `exports` */
  constructor(
    private readonly max: number,
    private readonly requests: string,
  ) {}

  /** @returns releases the slot; idempotent @throws RequestError too-many */
  acquire(account: number): () => void {
    const used = this.#used.get(account) ?? 0
    if (used >= this.max)
      throw new RequestError(
        'too-many',
        `Too many concurrent ${this.requests}; an account may have at most ${this.max}`,
        RETRY_AFTER_SECONDS,
      )
    this.#used.set(account, used + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      const remaining = (this.#used.get(account) ?? 1) - 1
      if (remaining === 0) this.#used.delete(account)
      else this.#used.set(account, remaining)
    }
  }
}
