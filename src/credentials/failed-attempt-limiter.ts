import ipaddr from 'ipaddr.js'
import { isIP } from 'node:net'
import type { Lockout, SecurityEventRecorder } from '../domain/account/security-event.ts'
import { RequestError } from '../domain/request-error.ts'
import { tokenDigest } from './digests.ts'

/**
 * Returns the /64 network of an IPv6 address, the smallest block that one client has to itself. An IPv4 address, and
 * anything that is not an address, is returned as it is.
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

/**
 * The recent failures of one key, and its running and waiting attempts. Times in milliseconds on the monotonic clock.
 */
type FailureWindow = {
  readonly key: string
  readonly maxFailures: number
  failures: number[]
  running: number
  waiting: (() => void)[]
}

const WINDOW_MS = 600_000

type FailureWindowsOptions = {
  /** Per 10 minutes. */
  readonly maxFailures: number
  readonly maxKeys: number
  /**
   * Whether a new key evicts the one with the oldest failure when `maxKeys` are tracked. Otherwise the new key is not
   * tracked.
   */
  readonly evictsOldest: boolean
}

/**
 * Sliding windows of failures by account, address or other key. Only keys with recent failures or running attempts take
 * up space.
 */
export class FailureWindows {
  /** Ordered by the latest failure, oldest first. */
  readonly #windows = new Map<string, FailureWindow>()

  constructor(
    private readonly options: FailureWindowsOptions,
    private readonly clock: () => number,
  ) {}

  /**
   * The key's window, which is stored only once something is counted in it. Returns undefined if `maxKeys` are tracked
   * and none may be evicted.
   */
  windowOf(key: string): FailureWindow | undefined {
    const window = this.#windows.get(key)
    if (window !== undefined) {
      const start = this.clock() - WINDOW_MS
      if ((window.failures[0] ?? Infinity) <= start) window.failures = window.failures.filter((at) => at > start)
      return window
    }
    this.#evictExpired()
    if (this.#windows.size >= this.options.maxKeys && !this.options.evictsOldest) return undefined
    return { key, maxFailures: this.options.maxFailures, failures: [], running: 0, waiting: [] }
  }

  /** @returns whether this failure exhausts the limit */
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

type PasswordAttempt = {
  /** The account's id, or the login name if no account has it. */
  readonly subject: number | string
  readonly address: string
  /**
   * Whether the account has recently logged in from this address. It then has a separate limit there, which attempts
   * from elsewhere can't exhaust.
   */
  readonly familiar: boolean
}

/** Credentials of 256 random bits. Wrong ones are counted per address. */
type RandomCredential = 'client secret' | 'API token'

/** Failed log-ins allowed in 10 minutes: per account and address, per address, and per account. */
const MAX_FAILURES_PER_PAIR = 5
const MAX_FAILURES_PER_ADDRESS = 49
const MAX_FAILURES_PER_ACCOUNT = 99
/** Limits on how many addresses with recent failures and how many unknown login names are tracked. */
const MAX_ADDRESSES = 50_000
const MAX_UNKNOWN_NAMES = 10_000
const MAX_WAITING_ATTEMPTS = 64

const UNBOUNDED = { maxKeys: Infinity, evictsOldest: false } as const

type AttemptWindow = {
  readonly windows: FailureWindows
  readonly window: FailureWindow
  readonly lockout: Omit<Lockout, 'event' | 'seconds'>
}

/**
 * Limits password guessing, within this process: failures are counted in memory, per account and client address. An
 * address is refused after 49 failures, which also limits how many windows it can create by inventing names. Names
 * without an account are counted separately, because there is no limit to them; the responses are the same.
 */
export class FailedAttemptLimiter {
  /** Unbounded: each failure here also counts for its address, which is limited. */
  readonly #pairs: FailureWindows
  readonly #familiar: FailureWindows
  readonly #addresses: FailureWindows
  readonly #accounts: FailureWindows
  readonly #unknownNames: FailureWindows
  readonly #random: Readonly<Record<RandomCredential, FailureWindows>>

  /** @param clock monotonic, in milliseconds */
  constructor(
    private readonly clock: () => number,
    private readonly recordSecurityEvent: SecurityEventRecorder = () => {},
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
   * Checks a password unless a limit is exhausted; then it is refused without a check. If the running attempts could
   * exhaust a limit, further ones wait for them, so parallel guesses get no more attempts than sequential ones.
   * @throws RequestError 'too-many'
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
   * Counts a wrong credential of 256 random bits. A correct one is always accepted: it can't be guessed, so its owner
   * need not be locked out.
   * @throws RequestError 'too-many' if the limit is exhausted
   */
  recordWrongCredential(credential: RandomCredential, address: string): void {
    const windows = this.#random[credential]
    const network = networkOf(address)
    const attemptWindows = findAttemptWindow(windows, network, { what: `${credential}s`, address: network })
    this.#refuseIfExhausted(attemptWindows)
    this.#recordFailure(attemptWindows)
  }

  async #beginAttempt(attempt: PasswordAttempt): Promise<AttemptWindow[]> {
    for (;;) {
      const attemptWindows = this.#windowsOf(attempt)
      this.#refuseIfExhausted(attemptWindows)
      const contendedWindow = attemptWindows.find(
        ({ window }) => window.failures.length + window.running >= window.maxFailures,
      )?.window
      if (contendedWindow === undefined) {
        for (const { windows, window } of attemptWindows) windows.beginAttempt(window)
        return attemptWindows
      }
      if (contendedWindow.waiting.length >= MAX_WAITING_ATTEMPTS)
        throw new RequestError('too-many', 'Too many log-ins at once; try again', 5)
      await new Promise<void>((done) => contendedWindow.waiting.push(done))
    }
  }

  #refuseIfExhausted(attemptWindows: readonly AttemptWindow[]): void {
    const exhausted = attemptWindows.filter(({ window }) => window.failures.length >= window.maxFailures)
    if (exhausted.length === 0) return
    const until = Math.max(...exhausted.map(({ window }) => (window.failures[0] ?? 0) + WINDOW_MS))
    const seconds = Math.max(1, Math.ceil((until - this.clock()) / 1000))
    throw new RequestError('too-many', `Too many failed attempts; try again in ${seconds} s`, seconds)
  }

  #recordFailure(attemptWindows: readonly AttemptWindow[]): void {
    for (const { windows, window, lockout } of attemptWindows) {
      if (!windows.recordFailure(window)) continue
      const seconds = Math.ceil(((window.failures[0] ?? 0) + WINDOW_MS - this.clock()) / 1000)
      this.recordSecurityEvent({ event: 'locked-out', ...lockout, seconds })
    }
  }

  #windowsOf({ subject, address: clientAddress, familiar }: PasswordAttempt): AttemptWindow[] {
    const address = networkOf(clientAddress)
    const isKnown = typeof subject === 'number'
    const account = isKnown ? subject : null
    // The name comes from the request and may be long; its digest is short.
    const name = isKnown ? `${subject}` : `name ${tokenDigest(subject)}`
    const pair = `${name} from ${address}`
    if (familiar) return findAttemptWindow(this.#familiar, pair, { what: 'log-ins', account, address })
    const addressWindows = findAttemptWindow(this.#addresses, address, { what: 'log-ins', address })
    // If the address can't be tracked because too many are, only the account's limit applies.
    const pairWindows =
      addressWindows.length > 0 ? findAttemptWindow(this.#pairs, pair, { what: 'log-ins', account, address }) : []
    const accountWindows = findAttemptWindow(isKnown ? this.#accounts : this.#unknownNames, name, {
      what: 'log-ins',
      account,
    })
    return [...addressWindows, ...pairWindows, ...accountWindows]
  }
}

function findAttemptWindow(windows: FailureWindows, key: string, lockout: AttemptWindow['lockout']): AttemptWindow[] {
  const window = windows.windowOf(key)
  return window === undefined ? [] : [{ windows, window, lockout }]
}
