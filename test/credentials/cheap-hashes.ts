/** The lowest costs that bcrypt and scrypt accept. The production costs have their own tests. */
export const CHEAP_HASHES = { passwords: 4, passphrases: { N: 16, r: 1, p: 1 } } as const
