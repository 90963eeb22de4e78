import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { makeFolder } from '../runtime/make-folder.ts'
import { StoreUnavailable } from '../stores/ports/event-store.ts'
import { EVENT_STORES } from './engines.ts'
import { BadFolder, NoInstallation, type Installation, type Purpose } from './installation.ts'
import { BadSettings, DATA_DIR as DEFAULT, type Settings } from './settings.ts'
import { engineOf, liesOnServer, withoutCredentials } from './store-addresses.ts'

/** Makes the folder of an installation where there is none. @throws BadFolder with what is wrong in one line */
export function makeDataDir(folder: string): void {
  try {
    makeFolder(folder)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new BadFolder(`DATA_DIR must be a folder that can be written to, got ${folder}: ${why}`)
  }
}

/** In a folder, while a log is being put back into it: what else is there may be half of the one and half of the other. */
export const RESTORING = 'restoring'

/** Where DATA_DIR pointed before it was moved out of a folder that is shipped. */
const FORMER_DEFAULT = './data'

/**
 * Looks before anything is made: a new, empty installation beside the one that was meant would be taken for it.
 * @throws NoInstallation, BadSettings, StoreUnavailable where a restore has not ended
 */
export function checkFolder({ DATA_DIR, EVENT_STORE }: Settings, purpose: Purpose): void {
  if (existsSync(join(DATA_DIR, RESTORING))) throw unfinished(DATA_DIR)
  const { file } = engineOf(EVENT_STORES, EVENT_STORE)
  if (file === undefined || existsSync(join(DATA_DIR, file))) return
  if (purpose !== 'filled' && DATA_DIR === DEFAULT && existsSync(join(FORMER_DEFAULT, file))) {
    throw new BadSettings([
      `DATA_DIR is not set, and ${DEFAULT} has no installation, but ${FORMER_DEFAULT} has, which was the default before: ` +
        `set DATA_DIR=${FORMER_DEFAULT}, or move its files (not README.md and diamonds.csv.gz) to ${DEFAULT}`,
    ])
  }
  if (purpose === 'existing')
    throw new NoInstallation(`no installation in ${resolve(DATA_DIR)}: set DATA_DIR to its folder`)
}

/** For a log on a server, where only its first event tells. @throws NoInstallation or StoreUnavailable, all closed */
export async function mustExist(installation: Installation): Promise<void> {
  const { EVENT_STORE } = installation.settings
  try {
    if (!liesOnServer(EVENT_STORES, EVENT_STORE) || (await installation.store.read('log')).length > 0) return
    throw new NoInstallation(`no installation in the log that EVENT_STORE names: ${withoutCredentials(EVENT_STORE)}`)
  } catch (error) {
    await installation.close()
    throw error
  }
}

const unfinished = (folder: string) =>
  new StoreUnavailable(
    `a restore into ${resolve(folder)} is under way, or was interrupted: run \`npx adamant restore FROM\` again, and serve then`,
  )
