import type { Vendor } from '../../../api/harness/account.ts'
import type { Sender } from '../../../api/harness/secrets.ts'
import type { SeededRandom } from '../../../seeded.ts'
import type { RunRecord } from '../record.ts'

/** An acknowledged stone, which all clients may use. */
export type SharedStone = { readonly sku: string; readonly id: number; etag?: string }

/** State that all clients share. */
export type World = {
  readonly record: RunRecord
  /** The current or last addresses of the processes. */
  readonly urls: () => readonly [string, ...string[]]
  readonly vendorAt: (url: string) => Vendor
  readonly sender: Sender
  readonly person: Person
  readonly stones: SharedStone[]
  /** Returns a new number for unique prices and names. */
  readonly number: () => number
  readonly isOver: () => boolean
  /** Secrets that are not read before the end of the run. */
  readonly keptSecrets: { readonly secret: string; readonly key: string; readonly mailed: boolean }[]
}

/** A user who logs in with a password, and the OAuth client that does so. */
export type Person = {
  readonly email: string
  readonly password: string
  readonly client: string
  readonly clientSecret: string
}

export type Client = { readonly number: number; readonly world: World; readonly random: SeededRandom }

/** Milliseconds before a retry after a lost response or a 503, much less than Retry-After. */
export const RETRY_DELAY_MS = 50

/** The address of a random process. */
export const anyUrl = ({ world, random }: Client): string => random.pick(world.urls())
