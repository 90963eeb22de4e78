import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  openSqliteEventStore,
  type SqliteEventStore,
  type SqliteEventStoreOptions,
} from '../../src/stores/sqlite/events.ts'

/** Opens an embedded log in a temporary folder, which is deleted when the log is closed. */
export function temporaryLog(options?: SqliteEventStoreOptions): SqliteEventStore {
  const folder = temporaryFolder()
  const store = openSqliteEventStore(join(folder, 'events.db'), options)
  return {
    ...store,
    async close() {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'adamant-log-'))
