import { truncates } from 'bcryptjs'
import { readFileSync } from 'node:fs'
import { RequestError } from '../domain/request-error.ts'
import { FairThread } from '../runtime/fairness/fair-thread.ts'
import { startWorker } from '../runtime/start-worker.ts'
import { networkOf } from './failed-attempt-limiter.ts'
import type { PasswordTask } from './password-worker.ts'

/** Hashes and compares passwords with bcrypt in a worker thread: 66 ms of CPU time each, outside the event loop. */
export class PasswordHasher {
  readonly #thread = new FairThread<PasswordTask, string | boolean>(
    () => startWorker('./password-worker', import.meta.url),
    MAX_QUEUED,
    IDLE_TIMEOUT_MS,
  )
  /** Comparisons so far, including those for unknown users. */
  comparisonCount = 0

  constructor(private readonly cost: number = BCRYPT_COST) {}

  /** @throws RequestError 'invalid' */
  async hash(password: string): Promise<string> {
    checkPassword(password)
    return String(await this.#run({ password, cost: this.cost }, []))
  }

  /**
   * Whether the password matches the hash. Without a hash it takes as long and returns false.
   * @param address client address, for fair scheduling
   * @throws RequestError 'too-many'
   */
  async matches(password: string, hash: string | undefined, address: string): Promise<boolean> {
    if (truncates(password)) return false
    const task = { password, cost: this.cost, hash: hash ?? dummyHash(this.cost) }
    const same = await this.#run(task, [networkOf(address)])
    this.comparisonCount++
    return same === true && hash !== undefined
  }

  /** Rejects all waiting tasks. */
  close(): Promise<void> {
    return this.#thread.close()
  }

  async #run(task: PasswordTask, names: readonly string[]): Promise<string | boolean> {
    const slot = this.#thread.acquireSlot(names)
    if (slot === undefined) throw new RequestError('too-many', 'Too many log-ins at this moment; try again', 5)
    return slot.run(task)
  }
}

/**
 * How many tasks wait for the worker, scheduled fairly among addresses: about 4 s at 66 ms each. Further ones are
 * rejected.
 */
const MAX_QUEUED = 64

/** Milliseconds without a task after which the thread ends: an idle one takes 14 MB, starting one takes 50 ms. */
const IDLE_TIMEOUT_MS = 1_000

/** The hash of a random value. An unknown user's password is compared with it, so that the response takes as long. */
const dummyHash = (cost: number) =>
  `$2b$${String(cost).padStart(2, '0')}$MGkm3lNnnQbYg.0.7jnz5u15FOxuBaol1N4vxm68D3vavAErv2Udq`

/**
 * The cost of password hashes: 66 ms on a core of 2020; each step doubles it. Hashes with another cost can still be
 * compared.
 */
export const BCRYPT_COST = 10

/**
 * Checks the rules for new passwords. Existing passwords that break them keep working.
 * @throws RequestError 'invalid'
 */
export function checkPassword(password: string): void {
  const length = [...password].length
  if (length < MIN_LENGTH || length > MAX_LENGTH) {
    throw new RequestError('invalid', `A password must have ${MIN_LENGTH} to ${MAX_LENGTH} characters, got ${length}`)
  }
  // Bcrypt ignores everything after 72 bytes.
  if (truncates(password)) throw new RequestError('invalid', 'A password must have at most 72 bytes in UTF-8')
  if (isCommon(password)) {
    throw new RequestError(
      'invalid',
      'This is one of the 10,000 most common passwords, which attackers try first: choose another',
    )
  }
}

/** Length limits of new passwords in code points. */
const MIN_LENGTH = 8

const MAX_LENGTH = 128

/** Case-insensitive. The list is read when the first password is set, because most processes never need it. */
function isCommon(password: string): boolean {
  common ??= new Set(readFileSync(COMMON, 'utf8').split('\n'))
  return common.has(password.toLowerCase())
}

let common: ReadonlySet<string> | undefined

/** The 10,000 most common passwords in lower case; data/README.md names the source. */
const COMMON = new URL('../../data/common-passwords.txt', import.meta.url)
