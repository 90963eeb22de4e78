import { openMemoryEvents } from '../../../src/stores/memory/events.ts'
import { eventStoreContract } from '../../contract/event-store.ts'

eventStoreContract('the log in memory', async () => openMemoryEvents(), { atomicMany: true })
