type Seen = { readonly mark: string; readonly since: number }

/** For how long things have been seen as they are, by the clock of whoever looks. */
export class Unchanged {
  readonly #seen = new Map<string, Seen>()

  /** @param monotonic milliseconds that never go back */
  constructor(private readonly monotonic: () => number = () => performance.now()) {}

  /** Milliseconds since it was first seen with this mark; 0 with a new one. */
  for(name: string, mark: string): number {
    const now = this.monotonic()
    const seen = this.#seen.get(name)
    if (seen?.mark === mark) return now - seen.since
    this.#seen.set(name, { mark, since: now })
    return 0
  }

  /** What is not there any more need not be remembered. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name)
  }
}
