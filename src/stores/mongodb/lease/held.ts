import type { Lease } from '../../ports/read-store.ts'
import type { Epoch } from './epochs.ts'

/** A lease that is held, until it is released or another process has taken the next epoch. */
export class HeldLease implements Lease {
  readonly lost: Promise<void>
  #epoch: Epoch
  #lose: () => void = () => undefined

  /** @param endHeartbeat ends its heartbeat, and writes that it was released */
  constructor(
    epoch: Epoch,
    private readonly endHeartbeat: () => Promise<void>,
  ) {
    this.#epoch = epoch
    this.lost = new Promise((done) => (this.#lose = done))
  }

  get epoch(): Epoch {
    return this.#epoch
  }

  /** The next heartbeat, which differs from all before: one whose outcome is unknown may be in the database. */
  nextBeat(): Epoch {
    this.#epoch = { ...this.#epoch, beat: this.#epoch.beat + 1 }
    return this.#epoch
  }

  lose(): void {
    this.#lose()
  }

  /** If the store is away, others get it when the heartbeat has been silent for long enough. */
  release(): Promise<void> {
    return this.endHeartbeat()
  }
}
