import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual, type KeyObject } from 'node:crypto'

/** 256 random bits as 43 URL-safe characters. */
export const randomToken = () => randomBytes(32).toString('base64url')

/** SHA-256. Only for random tokens: a password could be guessed from such a digest. */
export const tokenDigest = (token: string) => createHash('sha256').update(token).digest('base64url')

/** Constant-time comparison. */
export function sameDigest(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && timingSafeEqual(first, second)
}

const DIGEST_BYTES = 32

/** Key derivation for one purpose: HKDF with SHA-256 (RFC 5869), without salt. @param length in bytes */
export const derive = (key: string | Buffer, purpose: string, length = DIGEST_BYTES): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', purpose, length))

/**
 * HMAC with SHA-256 (RFC 2104).
 * @param key cache it: creating a KeyObject takes five times as long as the HMAC
 */
export const hmac = (key: KeyObject, message: string | Buffer): Buffer =>
  createHmac('sha256', key).update(message).digest()
