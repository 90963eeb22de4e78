import ipaddr from 'ipaddr.js'
import { isIP } from 'node:net'
import type { Lockout, NoteSecurity } from '../domain/account/security-event.ts'
import { Refusal } from '../domain/decider.ts'
import { digestOf } from './digests.ts'

/**
 * An IPv4 address, or the /64 network of an IPv6 address: the smallest part of it that somebody has to themselves. What is
 * no address stays as it is.
 */
export function networkOf(address: string): string {
  if (isIP(address) === 0) return address
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  return `${parsed.parts
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** Failures of one key, and the tries of it that are under way. Milliseconds by a clock that never goes back. */
export type Track = {
  readonly key: string
  readonly allowed: number
  failures: number[]
  running: number
  waiting: (() => void)[]
}

/** Milliseconds in which failures count together. */
const WINDOW = 600_000

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
