/** The least that bcrypt and scrypt may cost: what they cost in production is tested with them. */
export const CHEAP_HASHES = { passwords: 4, passphrases: { N: 16, r: 1, p: 1 } } as const
