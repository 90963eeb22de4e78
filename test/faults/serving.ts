import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from '../api/harness/request.ts'
import { startService, type Service } from '../api/harness/service.ts'
import { vendor, type Vendor } from '../api/harness/account.ts'
import { list, type Shown } from '../api/harness/stones.ts'
import { BUILT, startServer, type ServerProcess } from './server-process.ts'

/** A service process and Ann, a vendor who uses it. */
export type Serving = ServerProcess & { readonly ann: Vendor }

/** A data folder with an account, on which service processes can run, also concurrently. */
export type TestInstallation = {
  readonly dataDir: string
  /** Ann as a client of the process at an address. */
  readonly annAt: (url: string) => Vendor
  /** @param program arguments of Node; the built service by default */
  serve(settings?: Record<string, string>, program?: readonly string[]): Promise<Serving>
}

/** The parent of the data folder, if not the temporary folder, and what to prepare before the first process. */
export type InstallationOptions = { readonly within?: string; readonly prepare?: (service: Service) => Promise<void> }

/** @param common settings of every process, over those of test/engines.ts */
export async function withInstallation(
  run: (installed: TestInstallation) => Promise<void>,
  common: Readonly<Record<string, string>> = {},
  { within = tmpdir(), prepare }: InstallationOptions = {},
): Promise<void> {
  const dataDir = mkdtempSync(join(within, 'adamant-faults-'))
  const started: ServerProcess[] = []
  try {
    // The token is valid for every process, because they share the master key in the data folder.
    const setUp = await startService({ dataDir, settings: common })
    const { ann } = setUp
    await (prepare?.(setUp) ?? Promise.resolve()).finally(() => setUp.stop())
    await run({
      dataDir,
      annAt: (url) => vendor(url, ann.account, ann.token),
      async serve(settings = {}, program = BUILT) {
        const all = { LOG_LEVEL: 'warn', ...common, ...settings }
        const process = await startServer(dataDir, all, program)
        started.push(process)
        return { ...process, ann: vendor(process.url, ann.account, ann.token) }
      },
    })
  } finally {
    await Promise.all(started.map((process) => process.kill()))
    rmSync(dataDir, { recursive: true })
  }
}

/**
 * Reads a vendor's whole list in an API version, page by page. Starts again if the total changes between two pages, because
 * pages by offset would then repeat or miss diamonds.
 */
export async function everyDiamond(ann: Vendor, version: string): Promise<{ total: number; diamonds: Shown[] }> {
  for (;;) {
    const diamonds: Shown[] = []
    const totals = new Set<number>()
    const read = async () => {
      const page = await ann.get(`/${version}/diamond?limit=1000&offset=${diamonds.length}`)
      totals.add(Number(page.headers['x-total-count']))
      return page
    }
    for (let page = await read(); page.status !== 204; page = await read()) diamonds.push(...list(expect(200, page)))
    const [total = 0, ...others] = totals
    if (others.length === 0) return { total, diamonds }
  }
}
