import ipaddr from 'ipaddr.js'
import { isIP } from 'node:net'
import type { Lockout, SecurityEventRecorder } from '../domain/account/security-event.ts'
import { RequestError } from '../domain/decider.ts'
import { tokenDigest } from './digests.ts'

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
export type FailureWindow = {
  readonly key: string
  readonly maxFailures: number
  failures: number[]
  running: number
  waiting: (() => void)[]
}

/** Milliseconds in which failures count together. */
const WINDOW_MS = 600_000

export type FailureWindowsOptions = {
  /** So many failures in 10 minutes are checked; the next try is refused. */
  readonly maxFailures: number
  /** So many keys at most are remembered. */
  readonly maxKeys: number
  /** Whether the one that failed longest ago is forgotten for a new one, where all of them have failures that count. */
  readonly evictsOldest: boolean
}

/**
 * Failures by whom or whence. A key has a track only while something of it counts, so that keys which never failed, or
 * failed 10 minutes ago, take no place from others.
 */
export class FailureWindows {
  /** The one that failed longest ago comes first. */
  readonly #windows = new Map<string, FailureWindow>()

  constructor(
    private readonly options: FailureWindowsOptions,
    private readonly clock: () => number,
  ) {}

  /**
   * The key's track, which takes a place only once something is counted on it. Undefined where there is no place: what has
   * failures that count is not forgotten for what has none.
   */
  windowOf(key: string): FailureWindow | undefined {
    const known = this.#windows.get(key)
    if (known !== undefined) {
      const start = this.clock() - WINDOW_MS
      if ((known.failures[0] ?? Infinity) <= start) known.failures = known.failures.filter((at) => at > start)
      return known
    }
    this.#evictExpired()
    if (this.#windows.size >= this.options.maxKeys && !this.options.evictsOldest) return undefined
    return { key, maxFailures: this.options.maxFailures, failures: [], running: 0, waiting: [] }
  }

  /** @returns whether the next try will be refused because of this one */
  recordFailure(window: FailureWindow): boolean {
    window.failures.push(this.clock())
    this.#windows.delete(window.key)
    this.#store(window)
    return window.failures.length === window.maxFailures
  }

  beginAttempt(window: FailureWindow): void {
    window.running++
    this.#store(window)
  }

  endAttempt(window: FailureWindow): void {
    window.running--
    if (isIdle(window) && window.failures.length === 0) this.#windows.delete(window.key)
    for (const wake of window.waiting.splice(0)) wake()
  }

  #evictExpired(): void {
    const start = this.clock() - WINDOW_MS
    for (const [key, window] of this.#windows) {
      if (!isIdle(window) || (window.failures.at(-1) ?? 0) > start) return
      this.#windows.delete(key)
    }
  }

  #store(window: FailureWindow): void {
    if (this.#windows.has(window.key)) return
    const [first] = this.#windows.values()
    if (this.#windows.size >= this.options.maxKeys && first !== undefined && isIdle(first))
      this.#windows.delete(first.key)
    this.#windows.set(window.key, window)
  }
}

const isIdle = ({ running, waiting }: FailureWindow) => running === 0 && waiting.length === 0

/** Whose password is tried, and from where. */
export type PasswordAttempt = {
  /** The account's id; the name itself where no account has it. */
  readonly subject: number | string
  readonly address: string
  /** The account has logged in from this address lately: it has tries of its own there, which nobody else can use up. */
  readonly familiar: boolean
}

/** Random credentials of 256 bits, of which wrong ones are counted by the address they come from. */
export type RandomCredential = 'client secret' | 'API token'

/** The 6th failed log-in of an account from an address is refused, the 50th of an address, and the 100th of an account. */
const MAX_FAILURES_PER_PAIR = 5
const MAX_FAILURES_PER_ADDRESS = 49
const MAX_FAILURES_PER_ACCOUNT = 99
/** So many addresses with failures that count are remembered, and so many names that nobody has. */
const MAX_ADDRESSES = 50_000
const MAX_UNKNOWN_NAMES = 10_000
/** So many right or wrong log-ins of one subject wait for those under way. */
const MAX_WAITING_ATTEMPTS = 64

const UNBOUNDED = { maxKeys: Infinity, evictsOldest: false } as const

type AttemptWindow = {
  readonly windows: FailureWindows
  readonly window: FailureWindow
  readonly lockout: Omit<Lockout, 'event' | 'seconds'>
}

/**
 * Stops guessing, within this process: failures are counted in memory, by the account and the address they come from.
 * The address comes first: whatever names it invents, it has 49 failures, and so no more tracks than that. Names that
 * nobody has are counted apart, since there are as many as somebody can think of; they are answered as others are.
 */
export class FailedAttemptLimiter {
  /** One account from one address. Each failure here is one of its address too, so that these need no bound of their own. */
  readonly #pairs: FailureWindows
  readonly #familiar: FailureWindows
  readonly #addresses: FailureWindows
  readonly #accounts: FailureWindows
  readonly #unknownNames: FailureWindows
  readonly #random: Readonly<Record<RandomCredential, FailureWindows>>

  /** @param clock milliseconds that never go back */
  constructor(
    private readonly clock: () => number,
    private readonly note: SecurityEventRecorder = () => {},
  ) {
    const addresses = { maxFailures: MAX_FAILURES_PER_ADDRESS, maxKeys: MAX_ADDRESSES, evictsOldest: false }
    this.#pairs = new FailureWindows({ maxFailures: MAX_FAILURES_PER_PAIR, ...UNBOUNDED }, clock)
    this.#familiar = new FailureWindows({ maxFailures: MAX_FAILURES_PER_PAIR, ...UNBOUNDED }, clock)
    this.#accounts = new FailureWindows({ maxFailures: MAX_FAILURES_PER_ACCOUNT, ...UNBOUNDED }, clock)
    this.#unknownNames = new FailureWindows(
      { maxFailures: MAX_FAILURES_PER_ACCOUNT, maxKeys: MAX_UNKNOWN_NAMES, evictsOldest: true },
      clock,
    )
    this.#addresses = new FailureWindows(addresses, clock)
    this.#random = {
      'client secret': new FailureWindows(addresses, clock),
      'API token': new FailureWindows(addresses, clock),
    }
  }

  /**
   * Checks a password: past a limit it is not checked at all, right or wrong. Parallel guesses get no further than
   * guesses in a row: more than might fail wait until those under way are done.
   * @throws Refusal too-many
   */
  async attempt(attempt: PasswordAttempt, check: () => Promise<boolean>): Promise<boolean> {
    const attemptWindows = await this.#beginAttempt(attempt)
    try {
      const right = await check()
      if (!right) this.#recordFailure(attemptWindows)
      return right
    } finally {
      for (const { windows, window } of attemptWindows) windows.endAttempt(window)
    }
  }

  /**
   * Counts a wrong credential of 256 random bits. Right ones pass in any case: nobody guesses them, and so nobody can
   * lock out who has one.
   * @throws Refusal too-many when it was one too many
   */
  recordWrongCredential(what: RandomCredential, address: string): void {
    const windows = this.#random[what]
    const network = networkOf(address)
    const attemptWindows = findAttemptWindow(windows, network, { what: `${what}s`, address: network })
    this.#refuseIfExhausted(attemptWindows)
    this.#recordFailure(attemptWindows)
  }

  async #beginAttempt(attempt: PasswordAttempt): Promise<AttemptWindow[]> {
    for (;;) {
      const attemptWindows = this.#windowsOf(attempt)
      this.#refuseIfExhausted(attemptWindows)
      const crowded = attemptWindows.find(
        ({ window }) => window.failures.length + window.running >= window.maxFailures,
      )?.window
      if (crowded === undefined) {
        for (const { windows, window } of attemptWindows) windows.beginAttempt(window)
        return attemptWindows
      }
      if (crowded.waiting.length >= MAX_WAITING_ATTEMPTS)
        throw new RequestError('too-many', 'Too many log-ins at once; try again', 5)
      await new Promise<void>((done) => crowded.waiting.push(done))
    }
  }

  #refuseIfExhausted(attemptWindows: readonly AttemptWindow[]): void {
    const full = attemptWindows.filter(({ window }) => window.failures.length >= window.maxFailures)
    if (full.length === 0) return
    const until = Math.max(...full.map(({ window }) => (window.failures[0] ?? 0) + WINDOW_MS))
    const seconds = Math.max(1, Math.ceil((until - this.clock()) / 1000))
    throw new RequestError('too-many', `Too many failed attempts; try again in ${seconds} s`, seconds)
  }

  #recordFailure(attemptWindows: readonly AttemptWindow[]): void {
    for (const { windows, window, lockout } of attemptWindows) {
      if (!windows.recordFailure(window)) continue
      const seconds = Math.ceil(((window.failures[0] ?? 0) + WINDOW_MS - this.clock()) / 1000)
      this.note({ event: 'locked-out', ...lockout, seconds })
    }
  }

  #windowsOf({ subject, address: from, familiar }: PasswordAttempt): AttemptWindow[] {
    const address = networkOf(from)
    const isKnown = typeof subject === 'number'
    const account = isKnown ? subject : null
    // What a caller calls itself may be long; its digest is not.
    const name = isKnown ? `${subject}` : `name ${tokenDigest(subject)}`
    const pair = `${name} from ${address}`
    if (familiar) return findAttemptWindow(this.#familiar, pair, { what: 'log-ins', account, address })
    const ofAddress = findAttemptWindow(this.#addresses, address, { what: 'log-ins', address })
    // Where there is no place for one more address, the account's own limit holds.
    const ofPair =
      ofAddress.length > 0 ? findAttemptWindow(this.#pairs, pair, { what: 'log-ins', account, address }) : []
    const ofAll = findAttemptWindow(isKnown ? this.#accounts : this.#unknownNames, name, { what: 'log-ins', account })
    return [...ofAddress, ...ofPair, ...ofAll]
  }
}

function findAttemptWindow(windows: FailureWindows, key: string, lockout: AttemptWindow['lockout']): AttemptWindow[] {
  const window = windows.windowOf(key)
  return window === undefined ? [] : [{ windows, window, lockout }]
}
