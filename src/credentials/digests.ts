import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual, type KeyObject } from 'node:crypto'

/** 256 random bits in 43 URL-safe characters. */
export const randomToken = () => randomBytes(32).toString('base64url')

/** The SHA-256 digest of a random token. Good for those only: what a person chose can be guessed through it. */
export const tokenDigest = (token: string) => createHash('sha256').update(token).digest('base64url')

/** Compares in a time that does not depend on where the two differ. */
export function sameDigest(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && timingSafeEqual(first, second)
}

/** Bytes of a SHA-256 digest. */
const DIGEST_BYTES = 32

/** A key for one purpose: HKDF with SHA-256, RFC 5869, without a salt. @param length in bytes */
export const derive = (key: string | Buffer, purpose: string, length = DIGEST_BYTES): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', purpose, length))

/**
 * HMAC with SHA-256, RFC 2104.
 * @param key an object that is kept, since making one of bytes takes five times as long as the HMAC
 */
export const hmac = (key: KeyObject, message: string | Buffer): Buffer =>
  createHmac('sha256', key).update(message).digest()
