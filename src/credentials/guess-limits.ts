import { Refusal } from '../domain/refusal.ts'
import type { Lockout, NoteSecurity } from '../domain/account/security-event.ts'
import { digestOf } from './digests.ts'
import { networkOf } from './network.ts'
import { Tracks, WINDOW, type Track } from './tracks.ts'

/** Whose password is tried, and from where. */
export type Guess = {
  /** The account's id; the name itself where no account has it. */
  readonly subject: number | string
  readonly address: string
  /** The account has logged in from this address lately: it has tries of its own there, which nobody else can use up. */
  readonly familiar: boolean
}

/** Random credentials of 256 bits, of which wrong ones are counted by the address they come from. */
export type RandomCredential = 'client secret' | 'API token'

/** The 6th failed log-in of an account from an address is refused, the 50th of an address, and the 100th of an account. */
const ALLOWED_PER_PAIR = 5
const ALLOWED_PER_ADDRESS = 49
const ALLOWED_PER_ACCOUNT = 99
/** So many addresses with failures that count are remembered, and so many names that nobody has. */
const ADDRESSES = 50_000
const STRANGERS = 10_000
/** So many right or wrong log-ins of one subject wait for those under way. */
const WAITING = 64

const KEEPING = { most: Infinity, forgets: false } as const

type Entered = { readonly tracks: Tracks; readonly track: Track; readonly lockout: Omit<Lockout, 'event' | 'seconds'> }

/**
 * Stops guessing, within this process: failures are counted in memory, by the account and the address they come from.
 * The address comes first: whatever names it invents, it has 49 failures, and so no more tracks than that. Names that
 * nobody has are counted apart, since there are as many as somebody can think of; they are answered as others are.
 */
export class GuessLimits {
  /** One account from one address. Each failure here is one of its address too, so that these need no bound of their own. */
  readonly #pairs: Tracks
  readonly #familiar: Tracks
  readonly #addresses: Tracks
  readonly #accounts: Tracks
  readonly #strangers: Tracks
  readonly #random: Readonly<Record<RandomCredential, Tracks>>

  /** @param clock milliseconds that never go back */
  constructor(
    private readonly clock: () => number,
    private readonly note: NoteSecurity = () => {},
  ) {
    const addresses = { allowed: ALLOWED_PER_ADDRESS, most: ADDRESSES, forgets: false }
    this.#pairs = new Tracks({ allowed: ALLOWED_PER_PAIR, ...KEEPING }, clock)
    this.#familiar = new Tracks({ allowed: ALLOWED_PER_PAIR, ...KEEPING }, clock)
    this.#accounts = new Tracks({ allowed: ALLOWED_PER_ACCOUNT, ...KEEPING }, clock)
    this.#strangers = new Tracks({ allowed: ALLOWED_PER_ACCOUNT, most: STRANGERS, forgets: true }, clock)
    this.#addresses = new Tracks(addresses, clock)
    this.#random = { 'client secret': new Tracks(addresses, clock), 'API token': new Tracks(addresses, clock) }
  }

  /**
   * Checks a password: past a limit it is not checked at all, right or wrong. Parallel guesses get no further than
   * guesses in a row: more than might fail wait until those under way are done.
   * @throws Refusal too-many
   */
  async attempt(guess: Guess, check: () => Promise<boolean>): Promise<boolean> {
    const entered = await this.#enter(guess)
    try {
      const right = await check()
      if (!right) this.#fail(entered)
      return right
    } finally {
      for (const { tracks, track } of entered) tracks.leave(track)
    }
  }

  /**
   * Counts a wrong credential of 256 random bits. Right ones pass in any case: nobody guesses them, and so nobody can
   * lock out who has one.
   * @throws Refusal too-many when it was one too many
   */
  wrong(what: RandomCredential, address: string): void {
    const tracks = this.#random[what]
    const network = networkOf(address)
    const entered = inTracks(tracks, network, { what: `${what}s`, address: network })
    this.#refuseFull(entered)
    this.#fail(entered)
  }

  async #enter(guess: Guess): Promise<Entered[]> {
    for (;;) {
      const entered = this.#tracksOf(guess)
      this.#refuseFull(entered)
      const crowded = entered.find(({ track }) => track.failures.length + track.running >= track.allowed)?.track
      if (crowded === undefined) {
        for (const { tracks, track } of entered) tracks.enter(track)
        return entered
      }
      if (crowded.waiting.length >= WAITING) throw new Refusal('too-many', 'Too many log-ins at once; try again', 5)
      await new Promise<void>((done) => crowded.waiting.push(done))
    }
  }

  #refuseFull(entered: readonly Entered[]): void {
    const full = entered.filter(({ track }) => track.failures.length >= track.allowed)
    if (full.length === 0) return
    const until = Math.max(...full.map(({ track }) => (track.failures[0] ?? 0) + WINDOW))
    const seconds = Math.max(1, Math.ceil((until - this.clock()) / 1000))
    throw new Refusal('too-many', `Too many failed attempts; try again in ${seconds} s`, seconds)
  }

  #fail(entered: readonly Entered[]): void {
    for (const { tracks, track, lockout } of entered) {
      if (!tracks.fail(track)) continue
      const seconds = Math.ceil(((track.failures[0] ?? 0) + WINDOW - this.clock()) / 1000)
      this.note({ event: 'locked-out', ...lockout, seconds })
    }
  }

  #tracksOf({ subject, address: from, familiar }: Guess): Entered[] {
    const address = networkOf(from)
    const isKnown = typeof subject === 'number'
    const account = isKnown ? subject : null
    // What a caller calls itself may be long; its digest is not.
    const name = isKnown ? `${subject}` : `name ${digestOf(subject)}`
    const pair = `${name} from ${address}`
    if (familiar) return inTracks(this.#familiar, pair, { what: 'log-ins', account, address })
    const ofAddress = inTracks(this.#addresses, address, { what: 'log-ins', address })
    // Where there is no place for one more address, the account's own limit holds.
    const ofPair = ofAddress.length > 0 ? inTracks(this.#pairs, pair, { what: 'log-ins', account, address }) : []
    const ofAll = inTracks(isKnown ? this.#accounts : this.#strangers, name, { what: 'log-ins', account })
    return [...ofAddress, ...ofPair, ...ofAll]
  }
}

function inTracks(tracks: Tracks, key: string, lockout: Entered['lockout']): Entered[] {
  const track = tracks.of(key)
  return track === undefined ? [] : [{ tracks, track, lockout }]
}
