import { suite } from 'uvu'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import { eventStoreContract } from '../../contract/event-store.ts'
import { startPeer } from '../../eventstoredb/peer/peer.ts'
import { findRealServer } from '../../eventstoredb/real-server.ts'

const peer = await startPeer()
eventStoreContract('EventStoreDB: the peer', async () => openEventStoreDB(peer.url), { atomicMany: false })

const older = await startPeer()
older.faults.answerAs2110()
eventStoreContract('EventStoreDB: the peer answering as 21.10', async () => openEventStoreDB(older.url), {
  atomicMany: false,
})

const real = await findRealServer()
if (real !== undefined) {
  eventStoreContract(`EventStoreDB: ${real.name}`, async () => openEventStoreDB(real.url), { atomicMany: false })
  const last = suite('EventStoreDB')
  last('is stopped', () => real.stop())
  last.run()
}
