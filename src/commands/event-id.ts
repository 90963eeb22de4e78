import { createHash } from 'node:crypto'

/** The namespace of Adamant's event ids: made once, for good. */
const NAMESPACE = Buffer.from('5b0c3f0e8a4b4d0f9c1d6a7e2f3b4c5d', 'hex')

/**
 * The id of the `index`-th event that a command writes, so that the same command repeated makes the same ids.
 * @param command the command's id, any text
 */
export const eventId = (command: string, index: number): string => nameBasedUuid(NAMESPACE, `${command}/${index}`)

/** UUID version 5: RFC 9562, section 5.5. */
export function nameBasedUuid(namespace: Buffer, name: string): string {
  const hash = createHash('sha1').update(namespace).update(name).digest()
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  const hex = hash.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}
