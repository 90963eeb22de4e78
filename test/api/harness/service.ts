import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type Test } from 'uvu'
import type { Installation } from '../../../src/wiring/installation.ts'
import { LINK_STEP } from '../../../src/http/kit/signed-links.ts'
import { openInstallation } from '../../../src/wiring/open-installation.ts'
import { startService as start, type RunningService } from '../../../src/wiring/service.ts'
import { readSettings } from '../../../src/wiring/settings.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import type { ReadStore } from '../../../src/stores/ports/read-store.ts'
import { CHEAP_HASHES } from '../../credentials/cheap-hashes.ts'
import { Vendors, type Vendor } from './account.ts'
import { areEmbedded, enginesFor, forgetEngines } from '../../engines.ts'
import { until } from '../../until.ts'
import { request, type ApiResponse, type Request } from './request.ts'

/** Differences from the service in production. */
export type Overrides = {
  readonly settings?: Readonly<Record<string, string>>
  /** Kept when the service stops; by default a folder that is deleted with the service. */
  readonly dataDir?: string
  readonly clock?: () => number
  /**
   * Milliseconds that a request waits for read models. By default that of the service, which a slow machine can exceed.
   * If it is set, timeouts of database servers are SERVER_TIMEOUT_FACTOR times as long, too.
   */
  readonly readModelTimeoutMs?: number
  /** As in `Installation`. */
  readonly maxScannedDiamonds?: number
  /** As in `Installation`; by default as cheap as possible. */
  readonly hashing?: Installation['hashing']
  readonly store?: (store: EventStore) => EventStore
  readonly reads?: (reads: ReadStore) => ReadStore
  /** Applied after all other overrides. */
  readonly installation?: (installation: Installation) => Installation
  /** Existing vendors; none are registered then, because that needs the read models. */
  readonly vendors?: Pick<Service, 'ann' | 'bob'>
  /** Scores stones asynchronously, so that their ETag and body change some time after a request. */
  readonly scored?: true
}

/** A timeout that only a hanging read model exceeds, for tests whose lists must show every write on a slow machine. */
export const GENEROUS_TIMEOUT_MS = 120_000

/** Factor on the timeouts of database servers, where no test is about a server that does not respond. */
const SERVER_TIMEOUT_FACTOR = 20

/** The real service in this process, on a free port, with two vendors. */
export type Service = {
  readonly url: string
  /** URL of METRICS_PORT, if it is set. */
  readonly metrics: string | undefined
  readonly dataDir: string
  readonly installation: Installation
  readonly ann: Vendor
  readonly bob: Vendor
  /** Sends a request without a token. */
  send(request: Request): Promise<ApiResponse>
  /** Registers another account and opens a session for it. */
  newVendor(): Promise<Vendor & { readonly refreshToken: string }>
  stop(): Promise<void>
}

/** Starts the service as `serve` does, on the engines that test/engines.ts selects, so that the same tests run on each engine. */
export async function startService(overrides: Overrides = {}): Promise<Service> {
  const dataDir = overrides.dataDir ?? mkdtempSync(join(tmpdir(), 'adamant-api-'))
  const removeData = async () => {
    if (overrides.dataDir !== undefined) return
    rmSync(dataDir, { recursive: true, force: true })
    await forgetEngines(dataDir)
  }
  try {
    const installation = await openInstallationFor(dataDir, overrides)
    const running = await start(installation)
    try {
      return await withVendors(installation, running, { ...overrides, dataDir }, removeData)
    } catch (error) {
      await running.stop()
      throw error
    }
  } catch (error) {
    await removeData()
    throw error
  }
}

async function openInstallationFor(
  dataDir: string,
  {
    settings = {},
    clock,
    readModelTimeoutMs,
    maxScannedDiamonds,
    hashing = CHEAP_HASHES,
    store,
    reads,
    scored,
    installation = (opened) => opened,
  }: Overrides,
): Promise<Installation> {
  const engines = await enginesFor(dataDir)
  const parsedSettings = readSettings({ ...engines, LOG_LEVEL: 'error', ...settings, DATA_DIR: dataDir, PORT: '0' })
  const opened = await openInstallation(
    parsedSettings,
    'made',
    readModelTimeoutMs === undefined ? 1 : SERVER_TIMEOUT_FACTOR,
  )
  const eventStore = store?.(opened.store) ?? opened.store
  const context = { ...opened.context, store: eventStore, ...(clock !== undefined && { clock }) }
  const readModels = reads?.(opened.reads) ?? opened.reads
  const leasedReadModels = scored === true ? readModels : leasedElsewhere('scoring', readModels)
  // The report reader may be slow and large here, because it is compiled first.
  const reportReaderLimits = { timeoutMs: GENEROUS_TIMEOUT_MS, maxMemoryBytes: Infinity }
  return installation({
    ...opened,
    store: eventStore,
    reads: leasedReadModels,
    context,
    reportReaderLimits,
    hashing,
    ...(readModelTimeoutMs !== undefined && { readModelTimeoutMs }),
    ...(maxScannedDiamonds !== undefined && { maxScannedDiamonds }),
  })
}

/** Acts as if another process held the lease and never did the work. */
function leasedElsewhere(name: string, reads: ReadStore): ReadStore {
  return {
    ...reads,
    acquireLease: async (declaration) => (declaration.name === name ? undefined : reads.acquireLease(declaration)),
  }
}

async function withVendors(
  installation: Installation,
  running: RunningService,
  { dataDir, vendors: existingVendors }: { readonly dataDir: string } & Pick<Overrides, 'vendors'>,
  removeData: () => Promise<void>,
): Promise<Service> {
  const { local: url, metrics } = running
  if (url === undefined) throw new Error('the service does not listen: ROLES has no http')
  if (installation.settings.ROLES.includes('projections')) await running.ready()
  const vendors = new Vendors(installation)
  return {
    url,
    metrics,
    dataDir,
    installation,
    ann: existingVendors?.ann ?? (await vendors.open(url)),
    bob: existingVendors?.bob ?? (await vendors.open(url)),
    send: (options) => request(url, options),
    newVendor: () => vendors.open(url),
    async stop() {
      await running.stop()
      await removeData()
    },
  }
}

export type Given = { service: Service; ann: Vendor; bob: Vendor }

/** A suite whose tests share one service. Ann and Bob may have stones of other tests; use a new vendor where that matters. */
export function apiSuite(name: string, overrides: Overrides = {}): Test<Given> {
  const test = suite<Given>(name)
  test.before(async (given) => {
    given.service = await startService({ clock: clockOfLinks(), readModelTimeoutMs: GENEROUS_TIMEOUT_MS, ...overrides })
    given.ann = given.service.ann
    given.bob = given.service.bob
  })
  // The service is undefined if it could not start; that error is reported.
  test.after(({ service }: Partial<Given>) => service?.stop())
  return test
}

/**
 * Waits until the service knows of an event that another process appended, as an operator's command does: a log on a
 * server delivers it. With an embedded log the service knows at once, so nothing is waited for.
 */
export const untilDelivered = async (description: string, isKnown: () => Promise<boolean>): Promise<void> => {
  if (!areEmbedded) await until(description, isKnown)
}

/** A clock that stays within one step of link signatures, so that all responses of a suite have the same signatures. */
export function clockOfLinks(): () => number {
  const step = LINK_STEP * 1000
  const stepStart = Date.now() - (Date.now() % step)
  const offset = Date.now() - stepStart - 1
  return () => Math.min(Date.now() - offset, stepStart + step)
}
