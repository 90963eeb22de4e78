import { parseConnectionString, toInvalidConnectionString, type ParsedConnectionString } from './connection-string.ts'
import { withTimeout } from '../../runtime/deadline.ts'
import { StoreUnavailable } from '../ports/event-store.ts'
import { isInterruption, isNodeFailure, STORE, toStoreUnavailable } from './failure.ts'
import { EventStoreNode } from './node.ts'
import { BackOff } from '../log/back-off.ts'
import type { Timing } from './timing.ts'

/** Asks a node for the cluster's leader, as far as the node knows. */
type LeaderQuery = (node: string) => Promise<string | undefined>

/**
 * Finds the leader by asking all nodes concurrently. Until an election ends, the other nodes still name a stopped
 * leader, and a deposed leader names itself for a while. So the node named by a majority must respond and name itself.
 * As soon as a majority of all nodes agrees, the others are not waited for.
 * @returns undefined if there is no leader now
 */
async function findLeader(nodes: readonly string[], ask: LeaderQuery): Promise<string | undefined> {
  const majorityLeader = await findMajorityLeader(nodes, ask)
  if (majorityLeader === undefined) return undefined
  // A failed request counts as "no"; `ask` records the error.
  const selfReportedLeader = await ask(majorityLeader).catch(() => undefined)
  return selfReportedLeader === majorityLeader ? majorityLeader : undefined
}

/**
 * The leader named by more than half of all nodes, as soon as they agree; otherwise by more than half of those that
 * responded.
 */
function findMajorityLeader(nodes: readonly string[], ask: LeaderQuery): Promise<string | undefined> {
  const votes = new Map<string | undefined, number>()
  let [responses, settled] = [0, 0]
  return new Promise((resolve) => {
    const settle = () => {
      settled++
      const voters = settled === nodes.length ? responses : nodes.length
      const elected = [...votes].find(([, count]) => count * 2 > voters)
      if (elected !== undefined || settled === nodes.length) resolve(elected?.[0])
    }
    const recordVote = (leader: string | undefined) => {
      responses++
      votes.set(leader, (votes.get(leader) ?? 0) + 1)
    }
    for (const node of nodes)
      ask(node)
        // A node that does not respond has no vote; `ask` records the error.
        .then(recordVote, () => undefined)
        .then(settle)
  })
}

/**
 * The node that all calls go to: the only node, or the cluster's leader. A hanging node keeps its connections open, and
 * a deposed leader keeps responding for a while. A node that is silent for the length of a timeout is therefore
 * abandoned: its pending calls fail, and the leader is discovered again.
 */
export class EventStoreDBConnection {
  readonly #address: ParsedConnectionString
  readonly #backOff: BackOff
  #node: EventStoreNode | undefined
  #search: Promise<EventStoreNode> | undefined
  #searchingSince = 0
  #lastError: unknown
  #isClosed = false
  #isVerifyingLeader = false
  /** The members of a cluster whose connection string has only one name. */
  #members: readonly string[] = []

  /** Connects with the first call. @throws InvalidConnectionString */
  constructor(
    connectionString: string,
    private readonly timing: Timing,
  ) {
    this.#address = parseConnectionString(connectionString)
    this.#backOff = new BackOff({ firstPauseMs: timing.firstPauseMs, longestPauseMs: timing.maxDiscoveryPauseMs })
    // Creating a client validates the connection string immediately.
    const node = this.#openFirstSeed()
    if (!this.#address.isCluster) this.#node = node
  }

  #openFirstSeed(): EventStoreNode {
    try {
      return this.#open(this.#address.seeds[0] ?? '')
    } catch (error) {
      throw toInvalidConnectionString(error)
    }
  }

  /** The node to call; immediate if it is known. @throws StoreUnavailable */
  async node(): Promise<EventStoreNode> {
    if (this.#node !== undefined) return this.#node
    if (this.#isClosed) throw new StoreUnavailable('the connection to EventStoreDB is closed', { store: STORE })
    if (this.#search === undefined) this.#searchingSince = performance.now()
    const search = (this.#search ??= this.#find())
    // The search rejects for each of its waiters; a waiter whose timeout has passed reports the last known error.
    search.catch(() => undefined)
    const remainingMs = this.#searchingSince + this.timing.readTimeoutMs - performance.now()
    return withTimeout(Math.max(0, remainingMs), search, () => {
      throw toStoreUnavailable(
        `no leader found among ${this.#address.seeds.join(', ')}`,
        this.#lastError ?? 'no response',
      )
    })
  }

  /** When the current node last sent anything, in milliseconds of the monotonic clock. */
  get lastResponseAt(): number {
    return this.#node?.lastResponseAt ?? Number.NEGATIVE_INFINITY
  }

  /** A call timed out after `timeoutMs` ms. Abandons the node if it has sent nothing else in that time either. */
  reportTimeout(node: EventStoreNode, timeoutMs: number): void {
    if (node.isSilent(timeoutMs)) this.#abandon(node)
  }

  /** A call failed. Abandons a cluster's node if the error shows that it cannot serve calls any more. */
  reportFailure(node: EventStoreNode, error: unknown): void {
    if (!this.#address.isCluster || !isNodeFailure(error)) return
    this.#abandon(node, isInterruption(error) && error instanceof Error ? error : undefined)
  }

  /** The node failed to do what a leader can do. Asks the other nodes whether it still is the leader. */
  verifyLeader(node: EventStoreNode): void {
    if (!this.#address.isCluster || this.#isVerifyingLeader) return
    this.#isVerifyingLeader = true
    void this.#abandonIfDeposed(node).finally(() => (this.#isVerifyingLeader = false))
  }

  async #abandonIfDeposed(node: EventStoreNode): Promise<void> {
    const leader = await this.#askAll()
    if (leader !== undefined && leader !== node.name) this.#abandon(node)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#backOff.wake()
    // There are no calls left, so errors of closing the node or of the search do not matter.
    await Promise.allSettled([this.#node?.close(), this.#search])
  }

  #open(name: string): EventStoreNode {
    return new EventStoreNode(name, this.#address.connectionStringFor(name))
  }

  /** @param interruption the error of its calls in progress, if they may be repeated on a new connection */
  #abandon(node: EventStoreNode, interruption?: Error): void {
    if (node !== this.#node) return
    this.#node = this.#address.isCluster ? undefined : this.#open(node.name)
    // The errors of its calls were reported already.
    node.close(interruption).catch(() => undefined)
  }

  async #find(): Promise<EventStoreNode> {
    this.#backOff.reset()
    try {
      for (;;) {
        const leader = await this.#askAll()
        if (this.#isClosed) throw new StoreUnavailable('the connection to EventStoreDB is closed', { store: STORE })
        if (leader !== undefined) return (this.#node = this.#open(leader))
        await this.#backOff.sleep()
      }
    } finally {
      this.#search = undefined
    }
  }

  async #askAll(): Promise<string | undefined> {
    const nodes = [...new Set([...this.#address.seeds, ...this.#members])]
    const leader = await findLeader(nodes, (name) => this.#ask(name))
    if (leader !== undefined) this.#lastError = undefined
    return leader
  }

  async #ask(name: string): Promise<string | undefined> {
    const node = this.#open(name)
    try {
      const { leader, members } = await node.cluster(this.timing.gossipTimeoutMs)
      if (this.#address.seeds.length === 1) this.#members = members
      return leader
    } catch (error) {
      this.#lastError = error
      throw error
    } finally {
      // It was opened for this request only.
      node.close().catch(() => undefined)
    }
  }
}
