import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vendor, type Vendor } from '../api/harness/account.ts'
import { startService } from '../api/harness/service.ts'

export type PreparedDataFolder = {
  readonly dataDir: string
  /** The vendor at the current address of the server. */
  readonly ann: (url: string) => Vendor
  clean(): void
}

/** Creates a data folder with a vendor who has a session. */
export async function prepareDataFolder(): Promise<PreparedDataFolder> {
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-faults-'))
  const service = await startService({ dataDir })
  const { account, token } = service.ann
  await service.stop()
  return {
    dataDir,
    ann: (url) => vendor(url, account, token),
    clean: () => rmSync(dataDir, { recursive: true, force: true }),
  }
}
