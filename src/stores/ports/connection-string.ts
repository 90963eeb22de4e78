/** What the parameters of a store's address may be; the store's client gives them their meaning. */
export type ConnectionStringParameters = {
  /** Those that are handed on: the values that they may have, or any. */
  readonly allowed: Readonly<Record<string, readonly string[] | 'any'>>
  /** Those that the client knows, and why they are not taken all the same. */
  readonly rejected: Readonly<Record<string, string>>
  /** Names are the same where this is the same. */
  readonly normalizeName: (name: string) => string
}

/** Why parameters are refused that set how long the client waits. */
export const TIMEOUTS_SET_BY_SERVICE = 'the service has deadlines and pauses of its own'

/**
 * The store's client can't understand an address; nothing was tried. The message is the end of a sentence that begins with
 * the setting's name, and repeats nothing that may be a credential.
 */
export class InvalidConnectionString extends Error {
  override readonly name = 'BadAddress'
}
