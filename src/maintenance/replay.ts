import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { joinStores } from '../commands/installation/join-stores.ts'
import { beginCopy, closeReplay, type Moving } from '../commands/installation/move-log.ts'
import { keepMasterKey } from '../credentials/master-keys.ts'
import type { StoredEvent } from '../stores/ports/event-store.ts'
import { joinedOf, type Installation, type Purpose } from '../wiring/installation.ts'
import type { Settings } from '../wiring/settings.ts'
import { withoutCredentials } from '../wiring/store-addresses.ts'
import { InstallationCopy } from './copy/installation.ts'
import { isReached, logFacts, type Moment } from './copy/log.ts'
import { inNewFolder } from './new-folder.ts'
import { BadUsage, Failed, type Operation } from './operation.ts'

/** A moment as it was asked for: its words, and when it is. */
export type Until = { readonly text: string; readonly moment: Moment }

export type Replay = Operation & {
  readonly open: (settings: Settings, purpose: Purpose) => Promise<Installation>
  readonly source: Installation
  /** A new or an empty folder. */
  readonly into: string
  readonly until: Until
  readonly moving: Moving
}

/** missing: files of that time that were removed since, by digest. */
export type Replayed = { readonly events: number; readonly last: StoredEvent; readonly missing: readonly string[] }

/**
 * Fills a folder with an installation as it was at a moment, which takes no writes: the log up to there, the files of its
 * certifications and models, the persons that are still known. No secrets.
 * @throws BadUsage for a moment that is still to come, Failed for one before the first event; nothing is left in the folder then
 */
export async function replay(given: Replay): Promise<Replayed> {
  const { source, into, until } = given
  if (!isReached(await source.store.head(), Date.now(), until.moment)) {
    throw new BadUsage(`--until ${until.text}: the log has not come there yet; name a moment of the past`)
  }
  return inNewFolder(into, () => fill(given))
}

async function fill({ open, source, into, until, moving, ...operation }: Replay): Promise<Replayed> {
  const { settings, store, keys } = source
  if (settings.MASTER_KEY === undefined) keepMasterKey(into, keys.current)
  const embedded = { EVENT_STORE: 'sqlite', READ_MODEL: 'sqlite', MAILER: 'outbox' }
  const target = await open({ ...settings, ...embedded, DATA_DIR: into }, 'filled')
  try {
    const copy = randomUUID()
    const from =
      settings.EVENT_STORE === 'sqlite' ? resolve(settings.DATA_DIR) : withoutCredentials(settings.EVENT_STORE)
    await beginCopy(moving, target.store, { copy, from, log: await store.identity(), replay: true })
    await joinStores({ store: target.store, ...moving }, await joinedOf(target))
    const copying = new InstallationCopy({ ...operation, source, target, until: until.moment })
    await copying.log()
    const { last } = copying
    if (last === undefined) throw new Failed(`At ${until.text} the log had no events yet: name a later moment`)
    const { events } = copying.compared()
    const missing = await copying.theseFiles((await logFacts(target.store)).files)
    await copying.persons()
    await closeReplay(moving, target.store, { copy, until: until.text, events })
    return { events, last, missing }
  } finally {
    await target.close()
  }
}
