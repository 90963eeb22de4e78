import { createHmac, hkdfSync, type KeyObject } from 'node:crypto'

/** Bytes of a SHA-256 digest. */
const DIGEST = 32

/** A key for one purpose: HKDF with SHA-256, RFC 5869, without a salt. @param length in bytes */
export const derive = (key: string | Buffer, purpose: string, length = DIGEST): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', purpose, length))

/**
 * HMAC with SHA-256, RFC 2104.
 * @param key an object that is kept, since making one of bytes takes five times as long as the HMAC
 */
export const hmac = (key: KeyObject, message: string | Buffer): Buffer =>
  createHmac('sha256', key).update(message).digest()
