import { createPublicKey, hash, sign, verify, type KeyObject } from 'node:crypto'
import { formatHash, parseHash, type Hash } from './hashes.ts'

/**
 * Signed notes (c2sp.org/signed-note): a text, an empty line, and one line per signature. A key is identified by a name
 * and a 4-byte id. 0x01 is the algorithm Ed25519.
 */
const ED25519 = 0x01
const KEY_BYTES = 32
const ID_BYTES = 4
const SIGNATURE_BYTES = 64
const DASH = '\u2014'
/** The SPKI prefix of a 32-byte Ed25519 public key in DER (RFC 8410, section 4). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

type VerifierKey = { readonly name: string; readonly id: Buffer; readonly key: KeyObject }

const isName = (name: string) => name !== '' && !/[\s+]/u.test(name)

/** @param publicKey 32 bytes */
function keyId(name: string, publicKey: Buffer): Buffer {
  const bytes = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(ED25519), publicKey])
  return hash('sha256', bytes, 'buffer').subarray(0, ID_BYTES)
}

const publicKeyBytes = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES)

/** A verifier key, `NAME+ID+KEY`. @param privateKey Ed25519 */
export function formatVerifierKey(name: string, privateKey: KeyObject): string {
  const bytes = publicKeyBytes(createPublicKey(privateKey))
  return `${name}+${keyId(name, bytes).toString('hex')}+${Buffer.concat([Buffer.of(ED25519), bytes]).toString('base64')}`
}

/** @throws Error that says what is wrong with it */
export function parseVerifierKey(text: string): VerifierKey {
  const [, name = '', id = '', encoded = ''] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/su.exec(text.trim()) ?? []
  if (!isName(name)) throw new Error('a verifier key has the form NAME+ID+KEY, as returned by GET /log/key')
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.length !== KEY_BYTES + 1 || bytes[0] !== ED25519 || bytes.toString('base64') !== encoded) {
    throw new Error('the last part of the key is not an Ed25519 public key')
  }
  const publicKey = bytes.subarray(1)
  if (keyId(name, publicKey).toString('hex') !== id)
    throw new Error('the id of the key does not match its name and public key')
  return {
    name,
    id: Buffer.from(id, 'hex'),
    key: createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' }),
  }
}

/** @param text must end with a line break */
export function signNote(text: string, name: string, privateKey: KeyObject): string {
  const id = keyId(name, publicKeyBytes(createPublicKey(privateKey)))
  const signature = Buffer.concat([id, sign(null, Buffer.from(text), privateKey)])
  return `${text}\n${DASH} ${name} ${signature.toString('base64')}\n`
}

/** @returns the signed text @throws Error that says why the signature is not valid */
export function verifyNote(note: string, { name, id, key }: VerifierKey): string {
  const textEnd = note.lastIndexOf('\n\n')
  if (textEnd < 0 || !note.endsWith('\n')) throw new Error('it is not a signed note')
  const text = note.slice(0, textEnd + 1)
  let isSigned = false
  for (const line of note.slice(textEnd + 2, -1).split('\n')) {
    const [, signer, encoded = ''] = /^\u2014 ([^ ]+) ([A-Za-z0-9+/]+=*)$/u.exec(line) ?? []
    if (signer === undefined) throw new Error('it is not a signed note')
    const bytes = Buffer.from(encoded, 'base64')
    if (signer !== name || !bytes.subarray(0, ID_BYTES).equals(id)) continue
    isSigned = true
    const signature = bytes.subarray(ID_BYTES)
    if (bytes.toString('base64') !== encoded || signature.length !== SIGNATURE_BYTES)
      throw new Error('its signature is malformed')
    if (!verify(null, Buffer.from(text), key, signature)) throw new Error('its signature does not match the key')
  }
  if (!isSigned) throw new Error('it is not signed by the key')
  return text
}

/** The content of a checkpoint (c2sp.org/tlog-checkpoint). */
export type TreeHead = { readonly origin: string; readonly size: number; readonly root: Hash }

export const formatCheckpoint = ({ origin, size, root }: TreeHead): string =>
  `${origin}\n${size}\n${formatHash(root)}\n`

/** Ignores lines after the third, which are extensions. @throws Error if the text is not a checkpoint */
export function parseCheckpoint(text: string): TreeHead {
  const [origin = '', size = '', hash = ''] = text.split('\n')
  const root = parseHash(hash)
  const leaves = Number(size)
  if (origin === '' || !/^(?:0|[1-9]\d*)$/.test(size) || !Number.isSafeInteger(leaves) || root === undefined) {
    throw new Error('it is not a checkpoint: expected origin, size and root, one per line')
  }
  return { origin, size: leaves, root }
}
