import { createPublicKey, verify } from 'node:crypto'
import * as assert from 'uvu/assert'

/** Verifies and parses a signed checkpoint as its specification says, independently of src/evidence. */
export function openedNote(note: string, verifierKey: string): { readonly size: number; readonly root: string } {
  const [, name, id, key = ''] = /^([^+]+)\+([0-9a-f]{8})\+(\S+)\n?$/.exec(verifierKey) ?? []
  const bytes = Buffer.from(key, 'base64')
  assert.is(bytes[0], 1)
  const x = bytes.subarray(1).toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const [, signed = '', signer, signature = ''] = /^([^]*\n)\n\u2014 (\S+) (\S+)\n$/.exec(note) ?? []
  const found = Buffer.from(signature, 'base64')
  assert.is(signer, name)
  assert.is(found.subarray(0, 4).toString('hex'), id)
  assert.ok(verify(null, Buffer.from(signed), publicKey, found.subarray(4)), 'the signature is not that of the key')
  const [origin, size, root = ''] = signed.split('\n')
  assert.is(origin, name)
  return { size: Number(size), root }
}
