/** How long a signed link opens, as long as the access that it was made for is the stone's. */
export const LASTS = { aDay: 'd', withItsAccess: 'a' } as const
export type Lasting = (typeof LASTS)[keyof typeof LASTS]

/** Makes the links in bodies of paths: where the service is, and what it signs with, is known only when one is sent. */
export type LinkMaker = {
  /** A link that anybody may follow. */
  plain(path: string): string
  /** A link that opens by its signature. @param revision of the stone's access, to which it is bound */
  signed(path: string, lasting: Lasting, revision: number): string
}

/** Links as their paths alone, for bodies that are compared and not sent. */
export const PATHS: LinkMaker = { plain: (path) => path, signed: (path) => path }
