import { parseConnectionString, toInvalidConnectionString, type ParsedConnectionString } from './connection-string.ts'
import { withTimeout } from '../../runtime/deadline.ts'
import { StoreUnavailable } from '../ports/event-store.ts'
import { isNodeFailure, STORE, toStoreUnavailable } from './failure.ts'
import { EventStoreNode } from './node.ts'
import { BackOff, type Timing } from './timing.ts'

/** Asks a node which one leads, as far as it knows. */
export type LeaderQuery = (node: string) => Promise<string | undefined>

/**
 * Asks all nodes at once which of them leads. A stopped leader is still named by the others until they have elected another
 * one, and one that was deposed while it was stopped names itself for a while: so the one that most name must answer,
 * and name itself. None of the nodes is waited for when the others are more than half of all.
 * @returns undefined where there is none now
 */
async function findLeader(nodes: readonly string[], ask: LeaderQuery): Promise<string | undefined> {
  const named = await findMajorityLeader(nodes, ask)
  if (named === undefined) return undefined
  // No answer is an answer here; what was wrong is kept by whoever asks.
  const itself = await ask(named).catch(() => undefined)
  return itself === named ? named : undefined
}

/** What more than half say: of all as soon as they have said it, else of those that answer at all. */
function findMajorityLeader(nodes: readonly string[], ask: LeaderQuery): Promise<string | undefined> {
  const votes = new Map<string | undefined, number>()
  let [answers, settled] = [0, 0]
  return new Promise((resolve) => {
    const settle = () => {
      settled++
      const all = settled === nodes.length ? answers : nodes.length
      const elected = [...votes].find(([, count]) => count * 2 > all)
      if (elected !== undefined || settled === nodes.length) resolve(elected?.[0])
    }
    const count = (leader: string | undefined) => {
      answers++
      votes.set(leader, (votes.get(leader) ?? 0) + 1)
    }
    for (const node of nodes)
      ask(node)
        // A node that does not answer has no vote; what was wrong is kept by whoever asks.
        .then(count, () => undefined)
        .then(settle)
  })
}

/**
 * The node that all calls go to: the one that was named, or the leader of a cluster, found by asking its nodes. One that
 * hangs keeps its connections, and one that was deposed goes on answering for a while; so a node that says nothing for
 * the length of a deadline is given up, whatever is under way there is told, and the cluster is asked anew.
 */
export class EventStoreDBConnection {
  readonly #address: ParsedConnectionString
  readonly #backOff: BackOff
  #node: EventStoreNode | undefined
  #search: Promise<EventStoreNode> | undefined
  #searchingSince = 0
  #fault: unknown
  #isClosed = false
  #isDoubting = false
  /** Where the members of a cluster are that is known by one name only. */
  #members: readonly string[] = []

  /** @throws BadAddress; nothing is connected before the first call */
  constructor(
    connectionString: string,
    private readonly timing: Timing,
  ) {
    this.#address = parseConnectionString(connectionString)
    this.#backOff = new BackOff({ firstPauseMs: timing.firstPauseMs, longestPauseMs: timing.maxDiscoveryPauseMs })
    // What the client does not take is told at once.
    const node = this.#first()
    if (!this.#address.isCluster) this.#node = node
  }

  #first(): EventStoreNode {
    try {
      return this.#open(this.#address.seeds[0] ?? '')
    } catch (error) {
      throw toInvalidConnectionString(error)
    }
  }

  /** The node to call. At once where there is one, or is known to be none. @throws StoreUnavailable */
  async node(): Promise<EventStoreNode> {
    if (this.#node !== undefined) return this.#node
    if (this.#isClosed) throw new StoreUnavailable('the connection to EventStoreDB is closed', { store: STORE })
    if (this.#search === undefined) this.#searchingSince = performance.now()
    const search = (this.#search ??= this.#find())
    // It fails for each who waits for it; one whose patience ended before says what it knows.
    search.catch(() => undefined)
    const left = this.#searchingSince + this.timing.readTimeoutMs - performance.now()
    return withTimeout(Math.max(0, left), search, () => {
      throw toStoreUnavailable(
        `none of ${this.#address.seeds.join(', ')} leads a cluster now`,
        this.#fault ?? 'no answer',
      )
    })
  }

  /** When the node in use last said anything, in milliseconds of the monotonic clock. */
  get heardAt(): number {
    return this.#node?.lastResponseAt ?? Number.NEGATIVE_INFINITY
  }

  /** A call got no answer in `patience` ms: a node that has said nothing else either is given up. */
  reportTimeout(node: EventStoreNode, patience: number): void {
    if (node.isSilent(patience)) this.#giveUp(node)
  }

  /** A call failed: a node of a cluster that can't serve any more is given up. */
  reportFailure(node: EventStoreNode, error: unknown): void {
    if (this.#address.isCluster && isNodeFailure(error)) this.#giveUp(node)
  }

  /** A node says that it could not do what a leader can: the others are asked whether it still is. */
  verifyLeader(node: EventStoreNode): void {
    if (!this.#address.isCluster || this.#isDoubting) return
    this.#isDoubting = true
    void this.#check(node).finally(() => (this.#isDoubting = false))
  }

  async #check(node: EventStoreNode): Promise<void> {
    const leader = await this.#askAll()
    if (leader !== undefined && leader !== node.name) this.#giveUp(node)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#backOff.wake()
    // Nobody calls any more: neither the end of a node's connection nor that of a search changes anything.
    await Promise.allSettled([this.#node?.close(), this.#search])
  }

  #open(name: string): EventStoreNode {
    return new EventStoreNode(name, this.#address.connectionStringFor(name))
  }

  #giveUp(node: EventStoreNode): void {
    if (node !== this.#node) return
    this.#node = this.#address.isCluster ? undefined : this.#open(node.name)
    // What its connection says at its end was told already.
    node.close().catch(() => undefined)
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
    if (leader !== undefined) this.#fault = undefined
    return leader
  }

  async #ask(name: string): Promise<string | undefined> {
    const node = this.#open(name)
    try {
      const { leader, members } = await node.cluster(this.timing.gossipTimeoutMs)
      if (this.#address.seeds.length === 1) this.#members = members
      return leader
    } catch (error) {
      this.#fault = error
      throw error
    } finally {
      // It was opened for this one question, which has its answer.
      node.close().catch(() => undefined)
    }
  }
}
