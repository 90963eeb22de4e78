/** A connection string taken apart, so that each node can be addressed by itself. */
export type Address = {
  /** `HOST:PORT` of each node that was named, or a name that leads to one of them. */
  readonly seeds: readonly string[]
  /** Whether nodes are to be asked which of them leads; otherwise the one that was named is used as it is. */
  readonly isCluster: boolean
  /** The same connection string with this one node. */
  at(node: string): string
}

const DEFAULT_PORT = '2113'

/** https://docs.kurrent.io/clients/grpc/getting-started.html#connection-string */
const FORM = /^esdb(?<discover>\+discover)?:\/\/(?:(?<user>[^@/?]*)@)?(?<hosts>[^/?]+)\/?(?:\?(?<options>.*))?$/

/** @throws Error for what is no connection string; nothing of it is repeated */
export function addressOf(connectionString: string): Address {
  const { discover, user, hosts, options } = FORM.exec(connectionString.trim())?.groups ?? {}
  if (hosts === undefined) throw new Error('this is no connection string of EventStoreDB')
  const seeds = hosts.split(',').map((host) => (host.includes(':') ? host : `${host}:${DEFAULT_PORT}`))
  return {
    seeds,
    isCluster: discover !== undefined || seeds.length > 1,
    at: (node) => `esdb://${user === undefined ? '' : `${user}@`}${node}${options ? `?${options}` : ''}`,
  }
}
