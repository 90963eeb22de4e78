import type { Plan } from '../account/account.ts'
import { Refusal } from '../decider.ts'

/** Characters (Unicode code points) that a secret may have. An anonymous sender has the basic plan. */
const LENGTHS: Readonly<Record<Plan, number>> = { basic: 1_000, standard: 5_000, pro: 10_000 }

/** Code points of a passphrase at most: more is no passphrase that somebody types. */
const PASSPHRASE_LENGTH = 1_000

/** Seconds. */
const DEFAULT_TTL = 7 * 86_400
const SHORTEST_TTL = 60
const LONGEST_TTL = 30 * 86_400

/**
 * @param wanted seconds, fractions and what is negative or endless included; 0 or undefined is the default. Never refused:
 * the answer shows what is in force.
 */
export function ttlInForce(wanted: number | undefined): number {
  if (wanted === undefined || wanted === 0) return DEFAULT_TTL
  return Math.floor(Math.min(LONGEST_TTL, Math.max(SHORTEST_TTL, wanted)))
}

/** Addresses that one secret's link is mailed to. */
export const RECIPIENTS: Readonly<Record<Plan, number>> = { basic: 1, standard: 5, pro: 10 }
export const MOST_RECIPIENTS = RECIPIENTS.pro

/** @throws Refusal invalid, or too-large: nothing is ever cut short */
export function checkSecret(secret: string, plan: Plan): void {
  if (secret === '') throw new Refusal('invalid', 'You did not provide anything to share')
  const limit = LENGTHS[plan]
  if (isLonger(secret, limit)) {
    throw new Refusal('too-large', `Secret value exceeds the maximum size of ${limit} characters of the ${plan} plan`)
  }
}

/** Whether a secret can have it at all: to stretch another one would take long, and prove nothing. */
export const mayBePassphrase = (passphrase: string): boolean => !isLonger(passphrase, PASSPHRASE_LENGTH)

/** @throws Refusal invalid */
export function checkPassphrase(passphrase: string): void {
  if (!mayBePassphrase(passphrase)) {
    throw new Refusal('invalid', `A passphrase has at most ${PASSPHRASE_LENGTH} characters`)
  }
}

/** Counts only where the answer is open: a code point has one or two UTF-16 units. */
function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false
  return text.length > 2 * limit || [...text].length > limit
}
