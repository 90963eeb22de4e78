import { hash, randomBytes } from 'node:crypto'
import { derive } from './digests.ts'

/**
 * The two keys of a secret. The metadata key is random and stays with the sender; the secret key is derived from it and
 * goes to the reader. Neither is stored; the digest of the secret key names the secret's stream.
 * Keys are 256 bits as 50 characters in base 36, the format that clients of the original platform expect.
 */
export type SecretKeys = { readonly metadataKey: string; readonly secretKey: string; readonly digest: string }

const LENGTH = 50
const KEY = /^[0-9a-z]{50}$/

export const newSecretKeys = (): SecretKeys => keysOf(inBase36(randomBytes(32)))

/** Returns undefined if the text is not formatted as a key. */
export const parseMetadataKey = (text: string): SecretKeys | undefined => (KEY.test(text) ? keysOf(text) : undefined)

/** Returns undefined if the text is not formatted as a key. */
export const parseSecretKeyDigest = (text: string): string | undefined => (KEY.test(text) ? digestOf(text) : undefined)

export const secretStream = (digest: string): string => `secret-${digest}`
export const SECRET_STREAMS = { prefixes: ['secret-'] } as const
export const digestOfStream = (stream: string): string => stream.slice('secret-'.length)

function keysOf(metadataKey: string): SecretKeys {
  const secretKey = inBase36(derive(metadataKey, 'secret'))
  return { metadataKey, secretKey, digest: digestOf(secretKey) }
}

const digestOf = (secretKey: string) => hash('sha256', secretKey)
const inBase36 = (bytes: Buffer) =>
  BigInt(`0x${bytes.toString('hex')}`)
    .toString(36)
    .padStart(LENGTH, '0')
