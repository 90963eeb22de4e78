import { Metadata, status, type ServiceError } from '@grpc/grpc-js'
import gossipPb from '@eventstore/db-client/generated/gossip_pb.js'
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'

/**
 * What a node is. `follower, none leads`: it knows that the leader is gone, and of no other. `deposed`: another one leads,
 * and it does not know: it answers reads of what it has, and stores nothing that it could acknowledge.
 */
export type Role = 'leader' | 'follower' | 'follower, none leads' | 'deposed'

/** How a node stands in its cluster, by what it knows. Nodes are told apart by their ports. */
export type Standing = {
  readonly role: () => Role
  /** The node that it takes for the leader. */
  readonly leader: () => number | undefined
  readonly members: () => readonly number[]
}

/** A cluster of one node. */
export const alone = (port: () => number): Standing => ({ role: () => 'leader', leader: port, members: () => [port()] })

/** What the node tells whoever asks it about the cluster. */
export function gossipOf({ leader, members }: Standing): ClusterInfo {
  const { LEADER, FOLLOWER } = gossipPb.MemberInfo.VNodeState
  const info = new gossipPb.ClusterInfo()
  info.setMembersList(
    members().map((port) => {
      const endpoint = new gossipPb.EndPoint()
      endpoint.setAddress('127.0.0.1')
      endpoint.setPort(port)
      const member = new gossipPb.MemberInfo()
      member.setState(port === leader() ? LEADER : FOLLOWER)
      member.setIsAlive(true)
      member.setHttpEndPoint(endpoint)
      return member
    }),
  )
  return info
}

type Asked = { readonly metadata: Metadata }

/**
 * How a node that does not lead ends a call that asks for the leader:
 * https://github.com/kurrent-io/KurrentDB/blob/v23.10.6/src/EventStore.Core/Services/Transport/Grpc/RpcExceptions.cs
 */
export function refusalOf({ metadata }: Asked, { role, leader }: Standing): Partial<ServiceError> | undefined {
  const isAsked = metadata.get('requires-leader')[0] === 'true'
  if (!isAsked || !role().startsWith('follower')) return undefined
  const port = leader()
  if (port === undefined) return { code: status.UNKNOWN, details: 'No leader info available in response' }
  const trailer = new Metadata()
  trailer.set('exception', 'not-leader')
  trailer.set('leader-endpoint-host', '127.0.0.1')
  trailer.set('leader-endpoint-port', String(port))
  return { code: status.NOT_FOUND, details: 'Leader info available', metadata: trailer }
}
