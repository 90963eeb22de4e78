import { beginEpoch } from '../../../src/commands/installation/restore-log.ts'
import { openInstallation } from '../../../src/wiring/open-installation.ts'
import { readSettings } from '../../../src/wiring/settings.ts'
import { enginesFor } from '../../engines.ts'

/** Begins a new epoch while no service runs, as the last step of a restore does. */
export async function newEpoch(dataDir: string): Promise<number> {
  const engines = await enginesFor(dataDir)
  const { store, close } = await openInstallation(
    readSettings({ ...engines, LOG_LEVEL: 'silent', DATA_DIR: dataDir }),
    'filled',
  )
  const origin = { actor: 'operator', via: 'cli', correlation: 'test' } as const
  const epoch = await beginEpoch({ store, origin, clock: Date.now }, 0)
  await close()
  return epoch
}
