import { suite } from 'uvu'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import { DEFAULT_TIMING } from '../../../src/stores/eventstoredb/timing.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { eventStoreContract } from '../../contract/event-store.ts'
import { startPeer, type Peer } from '../../eventstoredb/peer/peer.ts'
import { findRealServer } from '../../docker/eventstoredb.ts'
import { LONG_TIMEOUT } from './given.ts'

/** A store on a separate peer, which stops when the store is closed. */
async function openOnPeer(prepare: (peer: Peer) => void = () => {}): Promise<EventStore> {
  const peer = await startPeer()
  prepare(peer)
  const store = openEventStoreDB(peer.url, {
    ...DEFAULT_TIMING,
    appendTimeoutMs: LONG_TIMEOUT,
    readTimeoutMs: LONG_TIMEOUT,
  })
  let closing: Promise<void> | undefined
  const close = async () => {
    await store.close()
    await peer.stop()
  }
  return { ...store, close: () => (closing ??= close()) }
}

eventStoreContract('EventStoreDB: the peer', () => openOnPeer(), { atomicMany: false })
eventStoreContract(
  'EventStoreDB: the peer answering as before 23.10',
  () => openOnPeer(({ faults }) => (faults.sendsCaughtUp = false)),
  { atomicMany: false },
)

const real = await findRealServer()
if (real !== undefined) {
  eventStoreContract(`EventStoreDB: ${real.name}`, async () => openEventStoreDB(real.url), { atomicMany: false })
  const last = suite('EventStoreDB')
  last('is stopped', () => real.stop())
  last.run()
}
