/** What the parameters of a store's address may be; the store's client gives them their meaning. */
export type Parameters = {
  /** Those that are handed on: the values that they may have, or any. */
  readonly takes: Readonly<Record<string, readonly string[] | 'any'>>
  /** Those that the client knows, and why they are not taken all the same. */
  readonly refuses: Readonly<Record<string, string>>
  /** Names are the same where this is the same. */
  readonly key: (name: string) => string
}

/** Why parameters are refused that set how long the client waits. */
export const OWN_DEADLINES = 'the service has deadlines and pauses of its own'

/**
 * The store's client can't understand an address; nothing was tried. The message is the end of a sentence that begins with
 * the setting's name, and repeats nothing that may be a credential.
 */
export class BadAddress extends Error {
  override readonly name = 'BadAddress'
}
