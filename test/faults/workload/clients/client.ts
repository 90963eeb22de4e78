import type { Vendor } from '../../../api/harness/account.ts'
import type { Sender } from '../../../api/harness/secrets.ts'
import type { Choices } from '../../../seeded.ts'
import type { Record } from '../record.ts'

/** A stone that was acknowledged, as clients tell each other of it. */
export type KnownStone = { readonly sku: string; readonly id: number; etag?: string }

/** What all clients share. */
export type World = {
  readonly record: Record
  /** Where the processes are now, or were last. */
  readonly urls: () => readonly [string, ...string[]]
  readonly vendorAt: (url: string) => Vendor
  readonly sender: Sender
  readonly person: Person
  readonly stones: KnownStone[]
  /** A number that no write has had: prices and names are made of it. */
  readonly number: () => number
  readonly isOver: () => boolean
  /** Secrets that nobody tries to read before the end. */
  readonly kept: { readonly secret: string; readonly key: string; readonly mailed: boolean }[]
}

/** Who logs in by a password, and the program that does it for them. */
export type Person = {
  readonly email: string
  readonly password: string
  readonly client: string
  readonly clientSecret: string
}

export type Client = { readonly number: number; readonly world: World; readonly choices: Choices }

/** Milliseconds after an answer that did not come, or asks to come again; much less than it says. */
export const AGAIN = 50

/** The address of some process. */
export const anywhere = ({ world, choices }: Client): string => choices.one(world.urls())
