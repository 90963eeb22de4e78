import { eventStoreContract } from '../../contract/event-store.ts'
import { temporaryLog } from '../temporary-log.ts'

eventStoreContract('the embedded event log', async () => temporaryLog(), { atomicMany: true })
