import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteReadStore } from '../../../src/stores/sqlite/documents.ts'
import { diamondListsContract } from '../../contract/diamond-lists.ts'

diamondListsContract('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'diamond-lists-'))
  const store = openSqliteReadStore(folder)
  return {
    store,
    openAnother: async () => store,
    changesVisible: async () => undefined,
    async close() {
      await store.close()
      rmSync(folder, { recursive: true })
    },
  }
})
