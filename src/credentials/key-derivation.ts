import { hash } from 'node:crypto'

/** Bytes that SHA-256 takes at a time, and that it makes: FIPS 180-4. */
const BLOCK = 64
const DIGEST = 32
const NO_SALT = Buffer.alloc(DIGEST)
const FIRST_STEP = '\x01'

/**
 * A key for one purpose: HKDF with SHA-256, RFC 5869, without a salt. One step of it, so at most 32 bytes; node:crypto's
 * hkdfSync is made for any length and takes four times as long.
 */
export function derive(key: string | Buffer, purpose: string, length = DIGEST): Buffer {
  return hmac(hmac(NO_SALT, key), purpose + FIRST_STEP).subarray(0, length)
}

/**
 * HMAC with SHA-256, RFC 2104. For a line or two, two digests of node:crypto take half the time of its createHmac, whose
 * objects keep the garbage collector at work besides.
 * @param key at most 64 bytes
 * @throws RangeError for a longer key
 */
export function hmac(key: Buffer, message: string | Buffer): Buffer {
  if (key.length > BLOCK) throw new RangeError(`a key of ${key.length} bytes, where at most ${BLOCK} can be taken`)
  const bytes = typeof message === 'string' ? Buffer.from(message) : message
  const inner = padded(key, 0x36, bytes.length)
  inner.set(bytes, BLOCK)
  const outer = padded(key, 0x5c, DIGEST)
  outer.write(sha256(inner), BLOCK, 'latin1')
  return Buffer.from(sha256(outer), 'latin1')
}

/** The key's block, and room behind it. */
function padded(key: Buffer, pad: number, room: number): Buffer {
  const block = Buffer.allocUnsafe(BLOCK + room).fill(pad, 0, BLOCK)
  for (let index = 0; index < key.length; index++) block[index] = (key[index] ?? 0) ^ pad
  return block
}

/** As text: a digest that is made as a buffer has memory of its own, which costs more than the digest. */
const sha256 = (bytes: Buffer) => hash('sha256', bytes, 'binary')
