import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 256 random bits in 43 URL-safe characters. */
export const randomToken = () => randomBytes(32).toString('base64url')

/** The SHA-256 digest of a random token. Good for those only: what a person chose can be guessed through it. */
export const digestOf = (token: string) => createHash('sha256').update(token).digest('base64url')

/** Compares in a time that does not depend on where the two differ. */
export function sameDigest(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && timingSafeEqual(first, second)
}
