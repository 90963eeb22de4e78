import { startPeer, type Peer } from './peer.ts'
import type { Role } from './standing.ts'

/** Nodes of one cluster, each with a log of its own that follows the leader's. */
export type Cluster = {
  /** `esdb://` with all nodes. */
  readonly url: string
  readonly nodes: readonly ClusterNode[]
  readonly leader: () => ClusterNode
  /** Stops a node's process: it answers nothing, and its connections stay. */
  freeze(node: ClusterNode): void
  /** The others find out that the leader is gone, without having another one. */
  miss(): void
  /** The others elect one of them, and it leads from here on. */
  elect(): ClusterNode
  /** A node goes on, with what it knew and had when it was stopped. */
  thaw(node: ClusterNode): void
  /** A node hears from the others who leads, and has their log from here on. */
  tell(node: ClusterNode): void
  stop(): Promise<void>
}

export type ClusterNode = { readonly peer: Peer; role: Role; leader: number | undefined; isFrozen: boolean }

/** The peer as three nodes: gossip, a leader, followers that have its log, and nodes that stop and come back. */
export async function startCluster(size = 3): Promise<Cluster> {
  const nodes: ClusterNode[] = []
  for (let index = 0; index < size; index++) nodes.push(await startNode(nodes))
  let leading = nodes[0] as ClusterNode
  const others = () => nodes.filter((node) => !node.isFrozen && node !== leading)
  const lead = (node: ClusterNode) => {
    leading = node
    node.role = 'leader'
    node.leader = node.peer.port
    for (const follower of others()) follow(follower)
    node.peer.log.on('appended', () => {
      if (node === leading) for (const follower of others()) follow(follower)
    })
  }
  const follow = (node: ClusterNode) => {
    if (node.role === 'deposed') return
    node.role = 'follower'
    node.leader = leading.peer.port
    node.peer.log.follow(leading.peer.log)
  }
  lead(leading)
  return {
    url: `esdb://${nodes.map(({ peer }) => `127.0.0.1:${peer.port}`).join(',')}?tls=false`,
    nodes,
    leader: () => leading,
    freeze(node) {
      node.isFrozen = true
      node.peer.faults.silent = true
    },
    miss() {
      for (const node of others()) Object.assign(node, { role: 'follower, none leads', leader: undefined })
    },
    elect() {
      const [elected] = others()
      if (elected === undefined) throw new Error('nobody is there to be elected')
      lead(elected)
      return elected
    },
    thaw(node) {
      node.isFrozen = false
      node.role = node === leading ? 'leader' : 'deposed'
      node.peer.faults.silent = false
    },
    tell(node) {
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
