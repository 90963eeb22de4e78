import { createServer, type Server as NetServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { Server, ServerCredentials, type ConnectionInjector } from '@grpc/grpc-js'
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import featuresPb from '@eventstore/db-client/generated/serverfeatures_pb.js'
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streamsPb from '@eventstore/db-client/generated/streams_pb.js'
import type { DeleteReq, DeleteResp, TombstoneReq, TombstoneResp } from '@eventstore/db-client/generated/streams_pb.js'
import { freePort } from '../../free-port.ts'
import { batchAppend } from './appending.ts'
import { withDurations } from './deadlines.ts'
import { Faults } from './faults.ts'
import { sendKeepAlives } from './keep-alive.ts'
import { Log } from './log.ts'
import { read } from './reading.ts'
import { singleNode, gossipOf, type ClusterView } from './cluster-view.ts'
import { nameOf } from './wire.ts'

export type Peer = {
  /** `esdb://127.0.0.1:PORT?tls=false`, unchanged by restarts. */
  readonly url: string
  readonly port: number
  readonly log: Log
  readonly faults: Faults
  /** Whether it accepts connections. */
  isUp(): boolean
  /** Number of open connections. */
  connections(): number
  /** Closes all connections, as by SIGKILL, and accepts no new ones. The log stays. */
  down(): Promise<void>
  /** Accepts connections again, as a restarted node: caches in memory are cleared. */
  up(): Promise<void>
  /** Closes all connections, but accepts new ones. */
  drop(): void
  stop(): Promise<void>
}

/**
 * Starts a peer: a server that speaks EventStoreDB's protocol as recorded from version 23.10.6. It
 * supports appends on the batch stream, reads, deletion, $maxCount and $tb of stream metadata, subscriptions to $all, server
 * features and gossip, but not projections, persistent subscriptions or unary appends. Its log is in memory. It does not keep the process alive.
 * @param view its role in a cluster; a cluster of one node by default
 */
export async function startPeer(view?: ClusterView): Promise<Peer> {
  const log = new Log()
  const faults = new Faults()
  const grpc = servicesOf(log, faults, view ?? singleNode(() => bound))
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure())
  sendKeepAlives(grpc, () => faults.keepAlive)
  const sockets = new Set<Socket>()
  let listener = listenerOf(injector, sockets)
  const bound: number = await listen(listener, await freePort())

  const drop = () => {
    for (const socket of sockets) socket.destroy()
  }
  const down = async () => {
    if (!listener.listening) return
    const closed = once(listener, 'close')
    listener.close()
    drop()
    await closed
  }
  return {
    url: `esdb://127.0.0.1:${bound}?tls=false`,
    port: bound,
    log,
    faults,
    isUp: () => listener.listening,
    connections: () => sockets.size,
    down,
    async up() {
      log.clearCaches()
      listener = listenerOf(injector, sockets)
      await listen(listener, bound)
    },
    drop,
    async stop() {
      await down()
      grpc.forceShutdown()
    },
  }
}

function listenerOf(injector: ConnectionInjector, sockets: Set<Socket>): NetServer {
  return createServer({ noDelay: true }, (socket) => {
    socket.unref()
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    injector.injectConnection(socket)
  })
}

async function listen(listener: NetServer, port: number): Promise<number> {
  listener.unref().listen(port, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('the peer has no TCP address')
  return address.port
}

function servicesOf(log: Log, faults: Faults, view: ClusterView): Server {
  const grpc = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 })
  grpc.addService(withDurations(streamsGrpc.StreamsService), {
    read: read(log, faults, view),
    batchAppend: batchAppend(log, faults, view),
    delete: remove(new streamsPb.DeleteResp(), (stream) => log.delete(stream)),
    tombstone: remove(new streamsPb.TombstoneResp(), (stream) => log.tombstone(stream)),
  })
  grpc.addService(featuresGrpc.ServerFeaturesService, {
    getSupportedMethods: (_call: unknown, callback: (error: null, features: unknown) => void) => {
      if (!faults.silent) callback(null, features())
    },
  })
  grpc.addService(gossipGrpc.GossipService, {
    read: (_call: unknown, callback: (error: null, cluster: unknown) => void) => {
      if (!faults.silent) callback(null, gossipOf(view))
    },
  })
  return grpc
}

/** A deletion by hand, at any revision. */
function remove(response: DeleteResp | TombstoneResp, removeStream: (stream: string) => void) {
  return (
    { request }: { readonly request: DeleteReq | TombstoneReq },
    callback: (error: null, response: unknown) => void,
  ) => {
    removeStream(nameOf(request.getOptions()?.getStreamIdentifier()))
    callback(null, response)
  }
}

function features() {
  const methods = ['read', 'append', 'batchappend'].map((name) => {
    const method = new featuresPb.SupportedMethod()
    method.setServiceName('event_store.client.streams.streams')
    method.setMethodName(name)
    return method
  })
  const supported = new featuresPb.SupportedMethods()
  supported.setEventStoreServerVersion('23.10.6')
  supported.setMethodsList(methods)
  return supported
}
