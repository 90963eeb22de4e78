import { Refusal } from '../domain/refusal.ts'
import { digestOf } from './digests.ts'
import { networkOf } from './network.ts'

/** Whose credential is tried (an account's normalised address or a client's id, known or not), and from where. */
export type Guess = { readonly subject: string; readonly address: string }

type Track = { readonly allowed: number; failures: number[]; running: number; waiting: (() => void)[] }

/** Milliseconds in which failures count together. */
const WINDOW = 600_000
/** The 6th failure about one subject is refused, and the 50th from one address. */
const ALLOWED_PER_SUBJECT = 5
const ALLOWED_PER_ADDRESS = 49
/** So many subjects and addresses at most are remembered; the oldest is forgotten first. */
const REMEMBERED = 50_000
/** So many right or wrong log-ins of one subject wait for those under way. */
const WAITING = 64

/** Stops guessing, within this process: failures are counted in memory. */
export class GuessLimits {
  readonly #tracks = new Map<string, Track>()
  readonly #clock: () => number

  constructor(clock: () => number) {
    this.#clock = clock
  }

  /**
   * Checks something that can be guessed, a password: past the limit it is not checked at all, right or wrong. Parallel
   * guesses get no further than guesses in a row: more than might fail wait until those under way are done.
   * @throws Refusal too-many
   */
  async attempt(guess: Guess, check: () => Promise<boolean>): Promise<boolean> {
    const tracks = await this.#enter(guess)
    try {
      const right = await check()
      if (!right) this.#count(tracks)
      return right
    } finally {
      for (const track of tracks) leave(track)
    }
  }

  /**
   * Counts a wrong credential of 256 random bits. Right ones pass in any case: nobody guesses them, and so nobody can
   * lock out who has one.
   * @throws Refusal too-many when it was one too many
   */
  wrong(guess: Guess): void {
    const tracks = this.#tracksOf(guess)
    this.#refuseFull(tracks)
    this.#count(tracks)
  }

  async #enter(guess: Guess): Promise<Track[]> {
    for (;;) {
      const tracks = this.#tracksOf(guess)
      this.#refuseFull(tracks)
      const crowded = tracks.find((track) => track.failures.length + track.running >= track.allowed)
      if (crowded === undefined) {
        for (const track of tracks) track.running++
        return tracks
      }
      if (crowded.waiting.length >= WAITING) throw new Refusal('too-many', 'Too many log-ins at once; try again', 5)
      await new Promise<void>((done) => crowded.waiting.push(done))
    }
  }

  #refuseFull(tracks: readonly Track[]): void {
    const full = tracks.filter((track) => track.failures.length >= track.allowed)
    if (full.length === 0) return
    const until = Math.max(...full.map((track) => (track.failures[0] ?? 0) + WINDOW))
    const seconds = Math.max(1, Math.ceil((until - this.#clock()) / 1000))
    throw new Refusal('too-many', `Too many failed attempts; try again in ${seconds} s`, seconds)
  }

  #count(tracks: readonly Track[]): void {
    for (const track of tracks) track.failures.push(this.#clock())
  }

  #tracksOf({ subject, address }: Guess): Track[] {
    return [
      // What a caller calls itself may be long; its digest is not.
      this.#track(`subject ${digestOf(subject)}`, ALLOWED_PER_SUBJECT),
      this.#track(`address ${networkOf(address)}`, ALLOWED_PER_ADDRESS),
    ]
  }

  #track(key: string, allowed: number): Track {
    const known = this.#tracks.get(key)
    const start = this.#clock() - WINDOW
    if (known !== undefined) {
      if ((known.failures[0] ?? Infinity) <= start) known.failures = known.failures.filter((at) => at > start)
      return known
    }
    if (this.#tracks.size >= REMEMBERED) this.#forgetOne()
    const track = { allowed, failures: [], running: 0, waiting: [] }
    this.#tracks.set(key, track)
    return track
  }

  #forgetOne(): void {
    for (const [key, { running }] of this.#tracks) {
      if (running === 0) return void this.#tracks.delete(key)
    }
  }
}

function leave(track: Track): void {
  track.running--
  for (const wake of track.waiting.splice(0)) wake()
}
