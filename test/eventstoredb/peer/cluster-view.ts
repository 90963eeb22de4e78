import { Metadata, status, type ServiceError } from '@grpc/grpc-js'
import gossipPb from '@eventstore/db-client/generated/gossip_pb.js'
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'

/**
 * The role of a node. `follower, none leads`: it knows that the leader is unavailable and knows no other. `deposed`: another
 * node leads, but this one does not know; it serves reads from its own log and acknowledges no append.
 */
export type Role = 'leader' | 'follower' | 'follower, none leads' | 'deposed'

/** What a node knows of its cluster. Nodes are identified by their ports. */
export type ClusterView = {
  readonly role: () => Role
  /** The node that this node considers the leader. */
  readonly leader: () => number | undefined
  readonly members: () => readonly number[]
}

/** A cluster of one node. */
export const singleNode = (port: () => number): ClusterView => ({
  role: () => 'leader',
  leader: port,
  members: () => [port()],
})

export function gossipOf({ leader, members }: ClusterView): ClusterInfo {
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

type IncomingCall = { readonly metadata: Metadata }

/**
 * The error of a node that is not the leader for a call that requires the leader:
 * https://github.com/kurrent-io/KurrentDB/blob/v23.10.6/src/EventStore.Core/Services/Transport/Grpc/RpcExceptions.cs
 */
export function leaderErrorOf(
  { metadata }: IncomingCall,
  { role, leader }: ClusterView,
): Partial<ServiceError> | undefined {
  const requiresLeader = metadata.get('requires-leader')[0] === 'true'
  if (!requiresLeader || !role().startsWith('follower')) return undefined
  const port = leader()
  if (port === undefined) return { code: status.UNKNOWN, details: 'No leader info available in response' }
  const trailer = new Metadata()
  trailer.set('exception', 'not-leader')
  trailer.set('leader-endpoint-host', '127.0.0.1')
  trailer.set('leader-endpoint-port', String(port))
  return { code: status.NOT_FOUND, details: 'Leader info available', metadata: trailer }
}
