import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openInstallation } from '../src/wiring/open-installation.ts'
import { readSettings } from '../src/wiring/settings.ts'
import type { EventStore } from '../src/stores/ports/event-store.ts'
import type { ReadStore } from '../src/stores/ports/read-store.ts'
import { enginesFor, forgetEngines } from './engines.ts'

/** The opened event store and read models of an installation. */
export type Stores = { readonly store: EventStore; readonly reads: ReadStore; close(): Promise<void> }

/** Opens the stores as the service does, on the engines of test/engines.ts. */
export async function openStores(dataDir: string): Promise<Stores> {
  const settings = { ...(await enginesFor(dataDir)), LOG_LEVEL: 'silent', DATA_DIR: dataDir }
  const { store, reads, close } = await openInstallation(readSettings(settings))
  return { store, reads, close }
}

/** Runs with the stores of a new installation. */
export async function withStores(run: (stores: Stores) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-stores-'))
  try {
    const stores = await openStores(dataDir)
    await run(stores).finally(() => stores.close())
  } finally {
    await forgetEngines(dataDir)
    rmSync(dataDir, { recursive: true })
  }
}
