import {
  InvalidConnectionString,
  TIMEOUTS_SET_BY_SERVICE,
  type ConnectionStringParameters,
} from '../ports/connection-string.ts'

const LEADER = 'all reads and writes use the leader, which the service finds itself'

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
    tlsVerifyCert: 'the client ignores it and always verifies: set the certificate authority with tlsCaFile=FILE',
    nodePreference: LEADER,
    maxDiscoverAttempts: LEADER,
    discoveryInterval: LEADER,
    gossipTimeout: LEADER,
    defaultDeadline: TIMEOUTS_SET_BY_SERVICE,
    throwOnAppendFailure: 'it has no effect here',
  },
  normalizeName: (name) => name.toLowerCase().replaceAll(/[_-]/g, ''),
}

/** A parsed connection string, from which connection strings for single nodes can be made. */
export type ParsedConnectionString = {
  /** `HOST:PORT` of each node in the connection string; may be a DNS name that resolves to several nodes. */
  readonly seeds: readonly string[]
  /** Whether the leader must be discovered; otherwise the one node is used as it is. */
  readonly isCluster: boolean
  connectionStringFor(node: string): string
}

const DEFAULT_PORT = '2113'

/** https://docs.kurrent.io/clients/grpc/getting-started.html#connection-string */
const CONNECTION_STRING_PATTERN =
  /^esdb(?<discover>\+discover)?:\/\/(?:(?<user>[^@/?]*)@)?(?<hosts>[^/?]+)\/?(?:\?(?<options>.*))?$/

/** @throws InvalidConnectionString */
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

const NOT_A_CONNECTION_STRING = 'is not an EventStoreDB connection string, such as esdb://HOST:2113?tls=false'

/** Translates an error of the client, whose message may contain a part of the password unless it concerns a file. */
export function toInvalidConnectionString(error: unknown): InvalidConnectionString {
  const message = error instanceof Error ? error.message : ''
  if (message.includes('userKeyFile'))
    return new InvalidConnectionString('has only one of userCertFile and userKeyFile; set both')
  return new InvalidConnectionString(
    message.includes('certificate')
      ? 'names a certificate file (tlsCaFile, userCertFile or userKeyFile) that does not exist'
      : NOT_A_CONNECTION_STRING,
  )
}
