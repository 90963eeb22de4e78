import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReadStore } from '../../../src/stores/ports/read-store.ts'
import { openSqliteReadStore } from '../../../src/stores/sqlite/documents.ts'
import { readStoreContract } from '../../contract/read-store.ts'

readStoreContract('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'documents-'))
  const stores: ReadStore[] = []
  const openAnother = async () => {
    const store = openSqliteReadStore(folder)
    stores.push(store)
    return store
  }
  return {
    store: await openAnother(),
    openAnother,
    // Messages arrive between turns of the event loop.
    changesVisible: () => new Promise((done) => setImmediate(done)),
    async close() {
      for (const store of stores) await store.close()
      rmSync(folder, { recursive: true })
    },
  }
})
