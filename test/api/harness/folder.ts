import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GENEROUS_TIMEOUT_MS, startService, type Overrides, type Service } from './service.ts'

/** Starts a service with these ROLES and settings. It is stopped when the test ends. */
export type Start = (
  roles: string,
  settings?: Readonly<Record<string, string>>,
  overrides?: Pick<Overrides, 'readModelTimeoutMs' | 'clock' | 'scored' | 'installation'>,
) => Promise<Service>

/** Runs services in turn or concurrently on one data folder. */
export async function servicesInFolder(run: (start: Start, dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-shared-'))
  const started: Service[] = []
  try {
    await run(async (ROLES, settings = {}, overrides = {}) => {
      const service = await startService({
        readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
        ...overrides,
        dataDir,
        settings: { ...settings, ROLES },
      })
      started.push(service)
      return service
    }, dataDir)
  } finally {
    for (const service of started) await service.stop()
    rmSync(dataDir, { recursive: true })
  }
}
