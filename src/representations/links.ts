/**
 * Two characters that JSON text can't contain stand in stored bodies for what is known only on sending: ADDRESS for
 * the service's address, SIGNED behind a path for the signature that opens it. Behind SIGNED stands what it is bound to:
 * a letter for how long it opens, and the revision of the stone's access that it holds for.
 */
export const ADDRESS = '\u0000'
export const SIGNED = '\u0001'

/** How long a signed link opens, as long as the access that it was made for is the stone's. */
export const LASTS = { aDay: 'd', withItsAccess: 'a' } as const
export type Lasting = (typeof LASTS)[keyof typeof LASTS]

/** A signed link as a stored body has it. */
export const signedLink = (path: string, lasting: Lasting, revision: number): string =>
  `${ADDRESS}${path}${SIGNED}${lasting}${revision}`
