/** A map of so many entries at most: those that were set first go first, and an entry that is set again counts as new. */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>()

  /** @param most entries, 1 at least */
  constructor(private readonly most: number) {}

  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key)
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.most) break
      this.#entries.delete(oldest)
    }
    this.#entries.set(key, value)
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }
}
