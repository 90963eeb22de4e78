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
 * Internals of the client from which its commands are built, and which its types hide. Version 6.2.1 is the last one
 * and pinned; docs/decisions explains why its append and its discovery are not used.
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

/** A node that is not the leader rejects calls with this option and names the leader. */
export const LEADER_ONLY = { requiresLeader: true } as const

/** `HOST:PORT` of the live nodes and of their leader; undefined if there is no leader. */
type Cluster = { readonly leader: string | undefined; readonly members: readonly string[] }

/** Milliseconds that pending calls may take to end when the node is closed. */
const CLOSE_TIMEOUT_MS = 1_000

/** One node, with a separate client and connection. */
export class EventStoreNode {
  readonly client: EventStoreDBClient
  /** When it last sent anything, or was created, in milliseconds of the monotonic clock. */
  lastActivityAt = performance.now()
  /** The same, but -Infinity if it has not sent anything yet. */
  lastResponseAt = Number.NEGATIVE_INFINITY
  readonly #commands: ClientInternals
  readonly #closeListeners = new Set<(reason: Error) => void>()
  #closeReason: Error | undefined

  /** Connects with the first call. @throws the client's ParseError */
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

  /** Whether it has sent nothing on any call for `timeoutMs` milliseconds. */
  isSilent(timeoutMs: number): boolean {
    // Timers may fire a millisecond early.
    return performance.now() - this.lastActivityAt >= timeoutMs - 1
  }

  /** Calls back once when the node is closed, with the reason. @returns a function that removes the listener */
  onClose(listener: (reason: Error) => void): () => void {
    if (this.#closeReason !== undefined) listener(this.#closeReason)
    else this.#closeListeners.add(listener)
    return () => this.#closeListeners.delete(listener)
  }

  /** Opens the batch-append call, without a deadline. */
  openBatchAppend(): Promise<BatchCall> {
    return this.#commands.GRPCStreamCreator(streamsGrpc.StreamsClient, 'batchAppend', (streams) =>
      streams.batchAppend(...this.#commands.callArguments(LEADER_ONLY, { deadline: Infinity })),
    )()
  }

  /** The node's view of its cluster. @throws the client's errors, or an Error after `timeoutMs` ms without a response */
  async cluster(timeoutMs: number): Promise<Cluster> {
    const info = await this.#commands.execute(gossipGrpc.GossipClient, 'gossip', (gossip) =>
      withResponseTimeout(timeoutMs, (callback) =>
        gossip.read(new sharedPb.Empty(), ...this.#commands.callArguments({}, { deadline: Infinity }), callback),
      ),
    )
    this.recordResponse()
    return clusterOf(info)
  }

  /** @param reason the error of the calls in progress */
  async close(reason = new Error('the connection to its node was closed')): Promise<void> {
    this.#closeReason ??= reason
    for (const listener of this.#closeListeners) listener(this.#closeReason)
    this.#closeListeners.clear()
    const timeoutController = new AbortController()
    // Rejects only when aborted below.
    const timeout = pause(CLOSE_TIMEOUT_MS, undefined, { signal: timeoutController.signal }).catch(() => {})
    await Promise.race([this.client.dispose(), timeout])
    timeoutController.abort()
    // The client never closes a working channel.
    const streams = await this.#commands.getGRPCClient(streamsGrpc.StreamsClient, 'close')
    streams.close()
  }
}

type GossipCallback = (error: Error | null, info?: ClusterInfo) => void

/** Not gRPC's deadline: that is a timestamp, which moves when the clock is changed. */
function withResponseTimeout(
  timeoutMs: number,
  ask: (callback: GossipCallback) => ClientUnaryCall,
): Promise<ClusterInfo> {
  return new Promise((resolve, reject) => {
    const deadline = new Deadline(() => {
      reject(new Error(`no response within ${timeoutMs} ms`))
      call.cancel()
    }, timeoutMs)
    const call = ask((error, info) => {
      deadline.clear()
      if (info === undefined) reject(error ?? new Error('an empty response'))
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
