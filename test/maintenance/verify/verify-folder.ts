import { verifyInstallation, type VerificationReport } from '../../../src/maintenance/verify/verify.ts'
import type { Installation } from '../../../src/wiring/installation.ts'
import { openInstallation } from '../../../src/wiring/open-installation.ts'
import { readSettings } from '../../../src/wiring/settings.ts'
import { quietOperation } from '../../quiet-operation.ts'
import { enginesFor } from '../../engines.ts'

/** Opens an installation on the engines of test/engines.ts, runs the work and closes it. */
export async function withInstallation<Result>(dataDir: string, work: (installation: Installation) => Promise<Result>) {
  const settings = { ...(await enginesFor(dataDir)), LOG_LEVEL: 'silent', DATA_DIR: dataDir }
  const installation = await openInstallation(readSettings(settings), 'existing')
  return work(installation).finally(() => installation.close())
}

/** Runs `verify` in this process. */
export const verifyFolder = (dataDir: string): Promise<VerificationReport> =>
  withInstallation(dataDir, async (installation) => (await verifyInstallation(quietOperation(), installation)).report)
