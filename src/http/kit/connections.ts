import type { Server } from 'node:http'
import { networkOf } from '../../credentials/network.ts'
import { FairShare } from '../../runtime/fairness/fair-share.ts'

export type ConnectionBounds = {
  /** Connections at a time. */
  readonly most: number
  /** Whether an address is somebody; behind proxies all connections come from theirs. */
  readonly byAddress: boolean
}

/** Each takes some 15 KB and a descriptor; 60 MB and what systems allow a process without being asked. */
export const CONNECTIONS: ConnectionBounds = { most: 4_096, byAddress: true }

/**
 * Keeps room for whoever comes next: an address has at most as many connections as are left for the others. One too
 * many is closed at once.
 * @returns how many were closed so far
 */
export function boundConnections(server: Server, { most, byAddress }: ConnectionBounds): () => number {
  const share = new FairShare(most)
  let refused = 0
  server.on('connection', (socket) => {
    const taken = share.open(byAddress ? [networkOf(socket.remoteAddress ?? '')] : [])
    if (taken.more(1)) {
      socket.once('close', () => taken.giveBack())
      return
    }
    refused++
    socket.destroy()
  })
  return () => refused
}
