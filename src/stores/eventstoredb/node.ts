import { setTimeout as pause } from 'node:timers/promises'
import type { CallOptions, ClientDuplexStream, ClientUnaryCall, Metadata } from '@grpc/grpc-js'
import { EventStoreDBClient } from '@eventstore/db-client'
import gossipGrpc, { type GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossipPb, { type ClusterInfo, type MemberInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import sharedPb from '@eventstore/db-client/generated/shared_pb.js'
import streamsGrpc, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { Deadline } from '../../runtime/deadline.ts'

export type BatchCall = ClientDuplexStream<BatchAppendReq, BatchAppendResp>

/**
 * What the client's own commands are made of, and its types keep from others. Version 6.2.1 is the last one and pinned;
 * docs/decisions says why its append and its discovery are not used.
 */
type ClientInternals = {
  GRPCStreamCreator<Call>(
    service: typeof StreamsClient,
    name: string,
    start: (client: StreamsClient) => Call,
  ): () => Promise<Call>
  execute<Result>(
    service: typeof GossipClient,
    name: string,
    ask: (client: GossipClient) => Promise<Result>,
  ): Promise<Result>
  getGRPCClient(service: typeof StreamsClient, name: string): Promise<StreamsClient>
  callArguments(
    options: { readonly requiresLeader?: boolean },
    call: { readonly deadline: number },
  ): [Metadata, CallOptions]
}

/** Whoever is not the leader refuses what asks for the leader, and says who leads. */
export const LEADER_ONLY = { requiresLeader: true } as const

/** `HOST:PORT` of the nodes that are up, and of the one that leads them; undefined where none does. */
export type Cluster = { readonly leader: string | undefined; readonly members: readonly string[] }

/** Milliseconds that calls under way may take to end at closing. */
const CLOSE_TIMEOUT_MS = 1_000

/** One node, by a client and a connection of its own. */
export class EventStoreNode {
  readonly client: EventStoreDBClient
  /** When it last said anything, in milliseconds of the monotonic clock. */
  lastActivityAt = performance.now()
  /** The same, where it has said anything at all. */
  lastResponseAt = Number.NEGATIVE_INFINITY
  readonly #commands: ClientInternals
  readonly #leaving = new Set<() => void>()
  #isGone = false

  /** @throws the client's ParseError; nothing is connected before the first call */
  constructor(
    /** `HOST:PORT` */
    readonly name: string,
    connectionString: string,
  ) {
    this.client = EventStoreDBClient.connectionString(connectionString)
    this.#commands = this.client as unknown as ClientInternals
  }

  recordResponse(): void {
    this.lastActivityAt = performance.now()
    this.lastResponseAt = this.lastActivityAt
  }

  /** Whether it has said nothing for so many milliseconds, on no call at all. */
  isSilent(patience: number): boolean {
    // Timers may fire a millisecond early.
    return performance.now() - this.lastActivityAt >= patience - 1
  }

  /** Calls back once, when the node is given up; the function that comes back takes that off again. */
  onClose(leave: () => void): () => void {
    if (this.#isGone) leave()
    else this.#leaving.add(leave)
    return () => this.#leaving.delete(leave)
  }

  /** Opens the call that carries appends, without a deadline of its own. */
  openBatchAppend(): Promise<BatchCall> {
    return this.#commands.GRPCStreamCreator(streamsGrpc.StreamsClient, 'batchAppend', (streams) =>
      streams.batchAppend(...this.#commands.callArguments(LEADER_ONLY, { deadline: Infinity })),
    )()
  }

  /** What this node knows of its cluster. @throws the client's errors, or when no answer comes in `patience` ms */
  async cluster(patience: number): Promise<Cluster> {
    const info = await this.#commands.execute(gossipGrpc.GossipClient, 'gossip', (gossip) =>
      answerWithin(patience, (answer) =>
        gossip.read(new sharedPb.Empty(), ...this.#commands.callArguments({}, { deadline: Infinity }), answer),
      ),
    )
    this.recordResponse()
    return clusterOf(info)
  }

  /** Ends what is under way here at once. */
  async close(): Promise<void> {
    this.#isGone = true
    for (const leave of this.#leaving) leave()
    this.#leaving.clear()
    const late = new AbortController()
    // It is only ever ended by the line after the next.
    const patience = pause(CLOSE_TIMEOUT_MS, undefined, { signal: late.signal }).catch(() => {})
    await Promise.race([this.client.dispose(), patience])
    late.abort()
    // The client never closes a channel that works.
    const streams = await this.#commands.getGRPCClient(streamsGrpc.StreamsClient, 'close')
    streams.close()
  }
}

type GossipCallback = (error: Error | null, info?: ClusterInfo) => void

/** A deadline of gRPC is a point in time, which a clock that jumps moves. */
function answerWithin(patience: number, ask: (answered: GossipCallback) => ClientUnaryCall): Promise<ClusterInfo> {
  return new Promise((resolve, reject) => {
    const deadline = new Deadline(() => {
      reject(new Error(`no answer within ${patience} ms`))
      call.cancel()
    }, patience)
    const call = ask((error, info) => {
      deadline.clear()
      if (info === undefined) reject(error ?? new Error('an empty answer'))
      else resolve(info)
    })
  })
}

function clusterOf(info: ClusterInfo): Cluster {
  const { LEADER } = gossipPb.MemberInfo.VNodeState
  const alive = info.getMembersList().filter((member) => member.getIsAlive())
  return {
    leader: nameOf(alive.find((member) => member.getState() === LEADER)),
    members: alive.map(nameOf).filter((name) => name !== undefined),
  }
}

function nameOf(member: MemberInfo | undefined): string | undefined {
  const endpoint = member?.getHttpEndPoint()
  return endpoint && `${endpoint.getAddress()}:${endpoint.getPort()}`
}
