import { setTimeout as pause } from 'node:timers/promises'
import type { CallOptions, ClientDuplexStream, Metadata } from '@grpc/grpc-js'
import { EventStoreDBClient } from '@eventstore/db-client'
import streamsGrpc, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'

export type BatchCall = ClientDuplexStream<BatchAppendReq, BatchAppendResp>

/**
 * What the client's own commands are made of, and its types keep from others. Version 6.2.1 is the last one and pinned;
 * docs/decisions says why its append is not used.
 */
type Commands = {
  GRPCStreamCreator<Call>(
    service: typeof StreamsClient,
    name: string,
    start: (client: StreamsClient) => Call,
  ): () => Promise<Call>
  callArguments(options: object, call: { readonly deadline: number }): [Metadata, CallOptions]
}

/** One client: its channel, found by discovery where there is a cluster, and made anew when it fails. */
export type Connection = {
  readonly client: EventStoreDBClient
  /** Opens the call that carries appends, without a deadline of its own. */
  openBatch(): Promise<BatchCall>
  close(): Promise<void>
}

/** Milliseconds that calls under way may take to end at closing. */
const PATIENCE = 1_000

/** @throws the client's ParseError for a malformed address; nothing is connected before the first call */
export function connect(address: string): Connection {
  const client = EventStoreDBClient.connectionString(address)
  const commands = client as unknown as Commands
  return {
    client,
    openBatch: commands.GRPCStreamCreator(streamsGrpc.StreamsClient, 'batchAppend', (streams) =>
      streams.batchAppend(...commands.callArguments({}, { deadline: Infinity })),
    ),
    async close() {
      const late = new AbortController()
      const patience = pause(PATIENCE, undefined, { signal: late.signal }).catch(() => {})
      await Promise.race([client.dispose(), patience])
      late.abort()
    },
  }
}
