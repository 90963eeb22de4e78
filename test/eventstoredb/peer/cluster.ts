import { startPeer, type Peer } from './peer.ts'
import type { Role } from './cluster-view.ts'

/** The nodes of a cluster. Each has its own log, which follows the leader's. */
export type Cluster = {
  /** A connection string with all nodes. */
  readonly url: string
  readonly nodes: readonly ClusterNode[]
  readonly leader: () => ClusterNode
  /** Stops a node: it does not respond, but its connections stay open. */
  freeze(node: ClusterNode): void
  /** The other nodes notice that the leader is unavailable, without electing another one. */
  loseLeader(): void
  /** The other nodes elect a new leader among themselves. */
  elect(): ClusterNode
  /** Resumes a node with the state it had when it was stopped. */
  thaw(node: ClusterNode): void
  /** A node learns the current leader from the others and follows its log. */
  rejoin(node: ClusterNode): void
  stop(): Promise<void>
}

export type ClusterNode = { readonly peer: Peer; role: Role; leader: number | undefined; isFrozen: boolean }

/** Starts a cluster of peers, with gossip and one leader. */
export async function startCluster(size = 3): Promise<Cluster> {
  const nodes: ClusterNode[] = []
  for (let index = 0; index < size; index++) nodes.push(await startNode(nodes))
  let currentLeader = nodes[0] as ClusterNode
  const followers = () => nodes.filter((node) => !node.isFrozen && node !== currentLeader)
  const makeLeader = (node: ClusterNode) => {
    currentLeader = node
    node.role = 'leader'
    node.leader = node.peer.port
    for (const follower of followers()) follow(follower)
    node.peer.log.on('appended', () => {
      if (node === currentLeader) for (const follower of followers()) follow(follower)
    })
  }
  const follow = (node: ClusterNode) => {
    if (node.role === 'deposed') return
    node.role = 'follower'
    node.leader = currentLeader.peer.port
    node.peer.log.follow(currentLeader.peer.log)
  }
  makeLeader(currentLeader)
  return {
    url: `esdb://${nodes.map(({ peer }) => `127.0.0.1:${peer.port}`).join(',')}?tls=false`,
    nodes,
    leader: () => currentLeader,
    freeze(node) {
      node.isFrozen = true
      node.peer.faults.silent = true
    },
    loseLeader() {
      for (const node of followers()) Object.assign(node, { role: 'follower, none leads', leader: undefined })
    },
    elect() {
      const [elected] = followers()
      if (elected === undefined) throw new Error('all other nodes are frozen')
      makeLeader(elected)
      return elected
    },
    thaw(node) {
      node.isFrozen = false
      node.role = node === currentLeader ? 'leader' : 'deposed'
      node.peer.faults.silent = false
    },
    rejoin(node) {
      node.role = 'follower'
      follow(node)
    },
    stop: async () => void (await Promise.all(nodes.map(({ peer }) => peer.stop()))),
  }
}

async function startNode(nodes: readonly ClusterNode[]): Promise<ClusterNode> {
  const node = { role: 'follower', leader: undefined, isFrozen: false } as Omit<ClusterNode, 'peer'>
  const peer = await startPeer({
    role: () => node.role,
    leader: () => node.leader,
    members: () => nodes.map((each) => each.peer.port),
  })
  return Object.assign(node, { peer })
}
