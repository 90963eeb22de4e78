/**
 * Finished texts hold no address and no signature, which are known only on sending. A link stands between two characters
 * that JSON text can't contain, as its path; where a signature opens it, SIGNED is behind the path, and behind that what
 * the link is bound to: a letter for how long it opens, and the revision of the stone's access that it holds for.
 */
const LINK = '\u0000'
export const SIGNED = '\u0001'

/** How long a signed link opens, as long as the access that it was made for is the stone's. */
export const LASTS = { aDay: 'd', withItsAccess: 'a' } as const
export type Lasting = (typeof LASTS)[keyof typeof LASTS]

/** A link that anybody may follow, as a finished text has it. */
export const plainLink = (path: string): string => `${LINK}${path}${LINK}`

/** A signed link as a finished text has it. */
export const signedLink = (path: string, lasting: Lasting, revision: number): string =>
  `${LINK}${path}${SIGNED}${lasting}${revision}${LINK}`

/** A text with its links put in. @param link makes one of what stands between the two characters */
export function withLinks(text: string, link: (stored: string) => string): string {
  const [first = '', ...rest] = text.split(LINK)
  return rest.reduce((done, part, index) => done + (index % 2 === 0 ? link(part) : part), first)
}
