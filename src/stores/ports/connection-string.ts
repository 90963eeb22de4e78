/** Which parameters a connection string may contain. Their meaning is defined by the store's client library. */
export type ConnectionStringParameters = {
  /** Parameters passed on to the client library: the permitted values, or `any`. */
  readonly allowed: Readonly<Record<string, readonly string[] | 'any'>>
  /** Parameters that the client library knows but the service does not accept, each with the reason. */
  readonly rejected: Readonly<Record<string, string>>
  /** Two parameters are the same when their normalized names are equal. */
  readonly normalizeName: (name: string) => string
}

/** The reason for rejecting parameters that set the client library's timeouts and retry intervals. */
export const TIMEOUTS_SET_BY_SERVICE = 'the service sets its own timeouts and retry intervals'

/**
 * The connection string is invalid; no connection was attempted. The message follows the setting's name
 * (`MONGODB_URL: …`) and never quotes the value, which may contain a credential.
 */
export class InvalidConnectionString extends Error {
  override readonly name = 'InvalidConnectionString'
}
