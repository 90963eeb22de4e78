import { truncates } from 'bcryptjs'
import { readFileSync } from 'node:fs'
import { RequestError } from '../domain/decider.ts'
import { FairThread } from '../runtime/fairness/fair-thread.ts'
import { startWorker } from '../runtime/start-worker.ts'
import { networkOf } from './failed-attempt-limiter.ts'
import type { PasswordTask } from './password-worker.ts'

/** Characters (code points) of a password that is set. */
const MIN_LENGTH = 8
const MAX_LENGTH = 128

/** The 10,000 most common passwords in lower case, the most common first; data/README.md tells their source. */
const COMMON = new URL('../../data/common-passwords.txt', import.meta.url)

let common: ReadonlySet<string> | undefined

/**
 * What holds for a password that is set from now on; those set before go on letting people in.
 * @throws Refusal invalid
 */
export function checkPassword(password: string): void {
  const length = [...password].length
  if (length < MIN_LENGTH || length > MAX_LENGTH) {
    throw new RequestError('invalid', `A password has ${MIN_LENGTH} to ${MAX_LENGTH} characters, got ${length}`)
  }
  // Bcrypt reads no further.
  if (truncates(password)) throw new RequestError('invalid', 'A password has at most 72 bytes of UTF-8')
  if (isCommon(password)) {
    throw new RequestError(
      'invalid',
      'This is one of the 10,000 most common passwords, which are tried first: take another',
    )
  }
}

/** Read when the first password is set, which most processes never do. In any case of its letters. */
function isCommon(password: string): boolean {
  common ??= new Set(readFileSync(COMMON, 'utf8').split('\n'))
  return common.has(password.toLowerCase())
}

/** The cost of a password's hash: 66 ms on a core of 2020; each step up doubles it. Hashes of another cost are compared, too. */
export const BCRYPT_COST = 10

/** What an unknown user's password is compared with, so that the answer takes as long: of bytes that nobody has. */
const dummyHash = (cost: number) =>
  `$2b$${String(cost).padStart(2, '0')}$MGkm3lNnnQbYg.0.7jnz5u15FOxuBaol1N4vxm68D3vavAErv2Udq`

/** So many wait for the worker, shared fairly among addresses; one more is told to come back. At 66 ms each that is some 4 s. */
const MAX_QUEUED = 64

/** Milliseconds after the last password at which the thread ends: idle, it takes 14 MB, and starting one takes 50 ms. */
const IDLE_TIMEOUT_MS = 1_000

/** Hashes and compares passwords with bcrypt in a worker thread: 66 ms of a core each, outside the event loop. */
export class PasswordHasher {
  readonly #thread = new FairThread<PasswordTask, string | boolean>(
    () => startWorker('./password-worker', import.meta.url),
    MAX_QUEUED,
    IDLE_TIMEOUT_MS,
  )
  /** Comparisons that were run, of known users and others. */
  comparisonCount = 0

  constructor(private readonly cost: number = BCRYPT_COST) {}

  /** @throws Refusal invalid for a password that nobody should have */
  async hash(password: string): Promise<string> {
    checkPassword(password)
    return String(await this.#run({ password, cost: this.cost }, []))
  }

  /**
   * Whether the password is the one that was hashed; without a hash false, after the same time.
   * @param address where it is tried: of many at once the others' go in between
   * @throws Refusal too-many
   */
  async matches(password: string, hash: string | undefined, address: string): Promise<boolean> {
    if (truncates(password)) return false
    const task = { password, cost: this.cost, hash: hash ?? dummyHash(this.cost) }
    const same = await this.#run(task, [networkOf(address)])
    this.comparisonCount++
    return same === true && hash !== undefined
  }

  /** Whoever still waits is told that the service ends. */
  close(): Promise<void> {
    return this.#thread.close()
  }

  async #run(task: PasswordTask, names: readonly string[]): Promise<string | boolean> {
    const slot = this.#thread.acquireSlot(names)
    if (slot === undefined) throw new RequestError('too-many', 'Too many log-ins at this moment; try again', 5)
    return slot.run(task)
  }
}
