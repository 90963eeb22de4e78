import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { joinStores } from '../commands/installation/join-stores.ts'
import { beginCopy, closeReplay, type LogMoveContext } from '../commands/installation/move-log.ts'
import { writeMasterKeyIfMissing } from '../credentials/master-keys.ts'
import type { StoredEvent } from '../stores/ports/event-store.ts'
import { storeIdentitiesOf, type Installation, type InstallationPurpose } from '../wiring/installation.ts'
import type { Settings } from '../wiring/settings.ts'
import { withoutCredentials } from '../wiring/store-addresses.ts'
import { InstallationCopy } from './copy/installation.ts'
import { isCutoffReached, readLogFacts, type LogCutoff } from './copy/log.ts'
import { fillNewFolder } from './new-folder.ts'
import { BadUsage, OperationFailure, type Operation } from './operation.ts'

/** A point in time: as given by the operator, and parsed. */
export type ReplayCutoff = { readonly text: string; readonly cutoff: LogCutoff }

type ReplayOperation = Operation & {
  readonly open: (settings: Settings, purpose: InstallationPurpose) => Promise<Installation>
  readonly source: Installation
  /** New or empty folder. */
  readonly into: string
  readonly until: ReplayCutoff
  readonly moveContext: LogMoveContext
}

/** `missing`: digests of files of that time that were deleted since. */
export type ReplayResult = { readonly events: number; readonly last: StoredEvent; readonly missing: readonly string[] }

/**
 * Creates a read-only installation with the state at a point in time: the log up to there, the files that it refers to, and the
 * personal data that was not deleted since. Secrets are not included.
 * @throws BadUsage if the log has not reached that point, OperationFailure if it is before the first event; the folder stays empty
 */
export async function replay(operation: ReplayOperation): Promise<ReplayResult> {
  const { source, into, until } = operation
  if (!isCutoffReached(await source.store.head(), Date.now(), until.cutoff)) {
    throw new BadUsage(`--until ${until.text}: must be in the past, and not after the end of the log`)
  }
  return fillNewFolder(into, () => fill(operation))
}

async function fill({ open, source, into, until, moveContext, ...operation }: ReplayOperation): Promise<ReplayResult> {
  const { settings, store, keys } = source
  if (settings.MASTER_KEY === undefined) writeMasterKeyIfMissing(into, keys.current)
  const embedded = { EVENT_STORE: 'sqlite', READ_MODEL: 'sqlite', MAILER: 'outbox' }
  const target = await open({ ...settings, ...embedded, DATA_DIR: into }, 'filled')
  try {
    const copy = randomUUID()
    const from =
      settings.EVENT_STORE === 'sqlite' ? resolve(settings.DATA_DIR) : withoutCredentials(settings.EVENT_STORE)
    await beginCopy(moveContext, target.store, { copy, from, log: await store.identity(), replay: true })
    await joinStores({ store: target.store, ...moveContext }, await storeIdentitiesOf(target))
    const installationCopy = new InstallationCopy({ ...operation, source, target, cutoff: until.cutoff })
    await installationCopy.copyLog()
    const { lastEvent } = installationCopy
    if (lastEvent === undefined)
      throw new OperationFailure(`--until ${until.text}: must not be before the first event of the log`)
    const { events } = installationCopy.requireEqualLogs()
    const missing = await installationCopy.copySelectedFiles((await readLogFacts(target.store)).files)
    await installationCopy.copyPersons()
    await closeReplay(moveContext, target.store, { copy, until: until.text, events })
    return { events, last: lastEvent, missing }
  } finally {
    await target.close()
  }
}
