import { hash } from 'node:crypto'

/** The namespace of Adamant's event ids: made once, for good. */
const NAMESPACE = Buffer.from('5b0c3f0e8a4b4d0f9c1d6a7e2f3b4c5d', 'hex')

/**
 * The id of the `index`-th event that a command writes, so that the same command repeated makes the same ids.
 * @param command the command's id, any text
 */
export const eventId = (command: string, index: number): string => nameBasedUuid(NAMESPACE, `${command}/${index}`)

/** UUID version 5: RFC 9562, section 5.5. */
export function nameBasedUuid(namespace: Buffer, name: string): string {
  const hex = hash('sha1', Buffer.concat([namespace, Buffer.from(name)]), 'hex')
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
