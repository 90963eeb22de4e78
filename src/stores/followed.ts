/**
 * The subscriptions of a store that are being iterated. What has not begun is nobody's to stop, and what has ended
 * nobody's to keep: a service subscribes again after every interruption, for as long as it runs.
 */
export class Followed {
  readonly #subscriptions = new Set<{ stop(): void }>()
  #stopped = false

  /** @returns what takes it out again */
  add(subscription: { stop(): void }): () => void {
    if (this.#stopped) subscription.stop()
    this.#subscriptions.add(subscription)
    return () => void this.#subscriptions.delete(subscription)
  }

  /** For good: what begins later ends at once. */
  stop(): void {
    this.#stopped = true
    for (const subscription of this.#subscriptions) subscription.stop()
  }
}
