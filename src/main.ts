#!/usr/bin/env node
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './cli/program.ts'
import { StreamQueue } from './commands/stream-queue.ts'
import { openMasterKeys } from './credentials/master-keys.ts'
import type { Installation } from './installation.ts'
import { openLog } from './log.ts'
import { BadSettings, type Settings } from './settings.ts'
import { openDirectoryFiles } from './stores/directory-files.ts'
import { openDocuments } from './stores/sqlite-documents.ts'
import { openOutbox } from './stores/outbox-mail.ts'
import { openSmtp } from './stores/smtp-mail.ts'
import { openSqliteEvents } from './stores/sqlite-events.ts'
import { openSqliteVault } from './stores/sqlite-vault.ts'

/**
 * The composition root: the one place that knows which adapters there are.
 * @throws BadSettings, BadMasterKey, or what a store says of its files
 */
export async function open(settings: Settings): Promise<Installation> {
  const { EVENT_STORE, READ_MODEL, DATA_DIR } = settings
  const missing = Object.entries({ EVENT_STORE, READ_MODEL }).filter(([, value]) => value !== 'sqlite')
  if (missing.length > 0) {
    throw new BadSettings(missing.map(([name]) => `${name} must be sqlite: this release has no other engine`))
  }
  mkdirSync(DATA_DIR, { recursive: true, mode: 0o700 })
  const keys = openMasterKeys({
    dataDir: DATA_DIR,
    masterKey: settings.MASTER_KEY,
    masterKeyOld: settings.MASTER_KEY_OLD,
  })
  const log = openLog(settings.LOG_LEVEL)
  const store = openSqliteEvents(join(DATA_DIR, 'events.db'))
  const reads = openDocuments(DATA_DIR)
  const vault = openSqliteVault(join(DATA_DIR, 'vault.db'))
  const files = openDirectoryFiles(join(DATA_DIR, 'files'))
  const mail = settings.MAIL === 'outbox' ? openOutbox(join(DATA_DIR, 'outbox')) : openSmtp(settings.MAIL)
  const writing = { store, queue: new StreamQueue(), clock: Date.now }
  return {
    settings,
    log,
    store,
    reads,
    vault,
    files,
    mail,
    keys,
    writing,
    counters: () => store.stats(),
    async close() {
      await store.close()
      await reads.close()
      await vault.close()
      await files.close()
      await mail.close()
    },
  }
}

/** Tests import `open` from here; npx comes by a symbolic link. */
const isProgram = process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)
if (isProgram) await run(process.argv.slice(2), open)
