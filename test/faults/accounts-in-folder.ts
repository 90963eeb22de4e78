import { openInstallation } from '../../src/wiring/open-installation.ts'
import { readSettings } from '../../src/wiring/settings.ts'
import { enginesFor } from '../engines.ts'
import { newSender, type Sender } from '../api/harness/secrets.ts'

/** Creates an account with an API token in a data folder, also while a service runs on it. */
export async function senderIn(dataDir: string): Promise<Sender> {
  const installation = await openInstallation(
    readSettings({ ...(await enginesFor(dataDir)), DATA_DIR: dataDir, LOG_LEVEL: 'silent' }),
  )
  try {
    return await newSender(installation, 'pro')
  } finally {
    await installation.close()
  }
}
