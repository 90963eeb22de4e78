import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BadSettings, type Settings } from '../../wiring/settings.ts'
import { BadUsage } from '../operation.ts'

/** What may be in a folder that nothing is lost of: the key is to be there before. */
const NOTHING: ReadonlySet<string> = new Set(['master.key', 'installation.lock'])
/** What an interrupted restore leaves. The flag was given with it. */
const BEGUN = 'restoring'

/** @throws BadUsage where the folder holds something and nobody has said that it may go */
export function checkFolder(folder: string, mayReplace: boolean): void {
  const found = existsSync(folder) ? readdirSync(folder) : []
  if (mayReplace || found.includes(BEGUN) || found.every((name) => NOTHING.has(name))) return
  throw new BadUsage(
    `DATA_DIR ${resolve(folder)} is not empty. With --replace the backup's log takes the place of the one that is there; ` +
      'else set DATA_DIR to a new folder',
  )
}

/** A key that is made now opens nothing of the backup. @throws BadSettings */
export function checkMasterKey({ MASTER_KEY, DATA_DIR }: Settings): void {
  const file = join(resolve(DATA_DIR), 'master.key')
  if (MASTER_KEY !== undefined || existsSync(file)) return
  throw new BadSettings([
    `MASTER_KEY must be the key of the installation that is restored, or lie in ${file}: no backup has it`,
  ])
}
