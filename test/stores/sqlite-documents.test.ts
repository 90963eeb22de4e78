import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDocuments } from '../../src/stores/sqlite-documents.ts'
import { readStoreContract } from '../contract/read-store.ts'

readStoreContract('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'documents-'))
  const store = openDocuments(folder)
  return {
    store,
    async close() {
      await store.close()
      rmSync(folder, { recursive: true })
    },
  }
})
