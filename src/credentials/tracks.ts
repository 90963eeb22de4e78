/** Failures of one key, and the tries of it that are under way. Milliseconds by a clock that never goes back. */
export type Track = {
  readonly key: string
  readonly allowed: number
  failures: number[]
  running: number
  waiting: (() => void)[]
}

/** Milliseconds in which failures count together. */
export const WINDOW = 600_000

export type TracksOptions = {
  /** So many failures in 10 minutes are checked; the next try is refused. */
  readonly allowed: number
  /** So many keys at most are remembered. */
  readonly most: number
  /** Whether the one that failed longest ago is forgotten for a new one, where all of them have failures that count. */
  readonly forgets: boolean
}

/**
 * Failures by whom or whence. A key has a track only while something of it counts, so that keys which never failed, or
 * failed 10 minutes ago, take no place from others.
 */
export class Tracks {
  /** The one that failed longest ago comes first. */
  readonly #tracks = new Map<string, Track>()

  constructor(
    private readonly options: TracksOptions,
    private readonly clock: () => number,
  ) {}

  /**
   * The key's track, which takes a place only once something is counted on it. Undefined where there is no place: what has
   * failures that count is not forgotten for what has none.
   */
  of(key: string): Track | undefined {
    const known = this.#tracks.get(key)
    if (known !== undefined) {
      const start = this.clock() - WINDOW
      if ((known.failures[0] ?? Infinity) <= start) known.failures = known.failures.filter((at) => at > start)
      return known
    }
    this.#forgetOld()
    if (this.#tracks.size >= this.options.most && !this.options.forgets) return undefined
    return { key, allowed: this.options.allowed, failures: [], running: 0, waiting: [] }
  }

  /** @returns whether the next try will be refused because of this one */
  fail(track: Track): boolean {
    track.failures.push(this.clock())
    this.#tracks.delete(track.key)
    this.#keep(track)
    return track.failures.length === track.allowed
  }

  enter(track: Track): void {
    track.running++
    this.#keep(track)
  }

  leave(track: Track): void {
    track.running--
    if (isIdle(track) && track.failures.length === 0) this.#tracks.delete(track.key)
    for (const wake of track.waiting.splice(0)) wake()
  }

  #forgetOld(): void {
    const start = this.clock() - WINDOW
    for (const [key, track] of this.#tracks) {
      if (!isIdle(track) || (track.failures.at(-1) ?? 0) > start) return
      this.#tracks.delete(key)
    }
  }

  #keep(track: Track): void {
    if (this.#tracks.has(track.key)) return
    const [first] = this.#tracks.values()
    if (this.#tracks.size >= this.options.most && first !== undefined && isIdle(first)) this.#tracks.delete(first.key)
    this.#tracks.set(track.key, track)
  }
}

const isIdle = ({ running, waiting }: Track) => running === 0 && waiting.length === 0
