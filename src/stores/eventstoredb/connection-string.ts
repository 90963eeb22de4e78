import {
  InvalidConnectionString,
  TIMEOUTS_SET_BY_SERVICE,
  type ConnectionStringParameters,
} from '../ports/connection-string.ts'

const LEADER = 'everything is read and written at the leader, and the service looks for it itself'

/** https://docs.kurrent.io/clients/grpc/getting-started.html#connection-string */
export const CONNECTION_STRING_PARAMETERS: ConnectionStringParameters = {
  allowed: {
    tls: ['true', 'false'],
    tlsCaFile: 'any',
    userCertFile: 'any',
    userKeyFile: 'any',
    nodePreference: ['leader'],
    connectionName: 'any',
    keepAliveInterval: 'any',
    keepAliveTimeout: 'any',
  },
  rejected: {
    tlsVerifyCert:
      'the client ignores it and goes on verifying: name the authority of the certificates by tlsCaFile=FILE',
    nodePreference: LEADER,
    maxDiscoverAttempts: LEADER,
    discoveryInterval: LEADER,
    gossipTimeout: LEADER,
    defaultDeadline: TIMEOUTS_SET_BY_SERVICE,
    throwOnAppendFailure: 'it has no effect here',
  },
  normalizeName: (name) => name.toLowerCase().replaceAll(/[_-]/g, ''),
}

/** A connection string taken apart, so that each node can be addressed by itself. */
export type ParsedConnectionString = {
  /** `HOST:PORT` of each node that was named, or a name that leads to one of them. */
  readonly seeds: readonly string[]
  /** Whether nodes are to be asked which of them leads; otherwise the one that was named is used as it is. */
  readonly isCluster: boolean
  /** The same connection string with this one node. */
  connectionStringFor(node: string): string
}

const DEFAULT_PORT = '2113'

/** https://docs.kurrent.io/clients/grpc/getting-started.html#connection-string */
const CONNECTION_STRING_PATTERN =
  /^esdb(?<discover>\+discover)?:\/\/(?:(?<user>[^@/?]*)@)?(?<hosts>[^/?]+)\/?(?:\?(?<options>.*))?$/

/** @throws BadAddress */
export function parseConnectionString(connectionString: string): ParsedConnectionString {
  const { discover, user, hosts, options } = CONNECTION_STRING_PATTERN.exec(connectionString.trim())?.groups ?? {}
  if (hosts === undefined) throw new InvalidConnectionString(NOT_A_CONNECTION_STRING)
  const seeds = hosts.split(',').map((host) => (host.includes(':') ? host : `${host}:${DEFAULT_PORT}`))
  return {
    seeds,
    isCluster: discover !== undefined || seeds.length > 1,
    connectionStringFor: (node) =>
      `esdb://${user === undefined ? '' : `${user}@`}${node}${options ? `?${options}` : ''}`,
  }
}

const NOT_A_CONNECTION_STRING = 'is no connection string of EventStoreDB, such as esdb://HOST:2113?tls=false'

/** What the client says of an address. Its message may repeat a part of the password, but for those on files. */
export function toInvalidConnectionString(error: unknown): InvalidConnectionString {
  const message = error instanceof Error ? error.message : ''
  if (message.includes('userKeyFile'))
    return new InvalidConnectionString('has userCertFile or userKeyFile without the other one')
  return new InvalidConnectionString(
    message.includes('certificate')
      ? 'names a file of certificates (tlsCaFile, userCertFile or userKeyFile) that is not there'
      : NOT_A_CONNECTION_STRING,
  )
}
