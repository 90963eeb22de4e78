import { hash, randomBytes } from 'node:crypto'
import { derive } from './digests.ts'

/**
 * A secret has two keys. The metadata key is random and its sender's; the secret key follows from it and is its
 * reader's. Neither is stored: of both only the digest is known, which names the secret's stream.
 * A key is 50 characters of base 36 for 256 bits, as clients of the original know them by their alphabet.
 */
export type SecretKeys = { readonly metadataKey: string; readonly secretKey: string; readonly digest: string }

const LENGTH = 50
const KEY = /^[0-9a-z]{50}$/

export const newSecretKeys = (): SecretKeys => keysOf(inBase36(randomBytes(32)))

/** All that follows from a metadata key; undefined for what can't be one. */
export const parseMetadataKey = (text: string): SecretKeys | undefined => (KEY.test(text) ? keysOf(text) : undefined)

/** The digest of a secret key; undefined for what can't be one. */
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
