import type { RequestListener } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { isIntentionallyReadOnly, describeReadOnlyState } from '../domain/installation/read-only-state.ts'
import { ENDPOINTS } from '../http/endpoints.ts'
import { RequestMetrics } from '../http/health/health.ts'
import type { ListeningServer } from '../http/kit/server.ts'
import { RequestActivity } from '../http/kit/request-activity.ts'
import { certifications } from '../projections/certifications/certifications.ts'
import { DiamondQueries } from '../projections/diamonds/diamond-queries.ts'
import { diamonds } from '../projections/diamonds/diamonds.ts'
import { imports } from '../projections/imports/imports.ts'
import { stoneModels } from '../projections/diamonds/stone-models.ts'
import { shareReads } from '../stores/log/shared-read.ts'
import { secrets as secretsModel } from '../projections/secrets/secrets.ts'
import { merkleTree } from '../projections/tree/merkle-tree.ts'
import { webhooks as webhooksModel } from '../projections/webhooks/webhooks.ts'
import { FileGarbageCollector } from '../reactions/files/file-garbage-collector.ts'
import { EventLoopDelay } from '../runtime/event-loop.ts'
import { eventTimeOf } from '../events/event-metadata.ts'
import { LogClosed, StoreUnavailable } from '../stores/ports/event-store.ts'
import { openReportReading } from './certifications.ts'
import { openChangeFeeds } from './change-feeds.ts'
import { guardInstallation, registerBreakerMetrics, type GuardedInstallation } from './circuit-breakers.ts'
import { openEvidence } from './evidence.ts'
import { Consumers } from './consumers.ts'
import { listenForRequests, openHttpService, type RequestObservability } from './http.ts'
import type { Installation } from './installation.ts'
import { listenForMetrics, registerLogMetrics, registerProcessMetrics, registerVaultMetrics } from './metrics.ts'
import { openImports } from './imports.ts'
import { readOnly, requireInstallation } from './open-installation.ts'
import { ifAvailable } from './scraped-metrics.ts'
import { ServiceParts } from './service-parts.ts'
import { LogRollbackMonitor } from './log-rollback-monitor.ts'
import { openScoring } from './scoring.ts'
import { openSecrets } from './secrets.ts'
import { publicUrlsOf, localUrl } from './settings.ts'
import { openWebhooks } from './webhooks.ts'

const WRITES_REFUSED = 'writes are refused; the log of the service and `adamant status` have the reason'

/**
 * Why the installation accepts no writes at present, as messages for operators; empty if it accepts them or is
 * intentionally read-only. Reads may still work.
 */
export async function findWriteRefusals({ store }: Pick<Installation, 'store'>): Promise<string[]> {
  try {
    const closed = await store.closedReason()
    if (closed !== undefined && isIntentionallyReadOnly(closed.why)) return []
    if (closed !== undefined) return [describeReadOnlyState(closed)]
    const refusal = await store.diskErrorMessage()
    return refusal === undefined ? [] : [refusal]
  } catch (error) {
    if (error instanceof StoreUnavailable) return [error.message]
    throw error
  }
}

export type RunningService = {
  /** The base URL; undefined if the process does not have the role http. */
  readonly url: string | undefined
  /** The URL without a proxy: where this process listens. */
  readonly local: string | undefined
  /** The URL of METRICS_PORT, if set. */
  readonly metrics: string | undefined
  /** Resolves with the reason when the service must be stopped. */
  readonly fatalError: Promise<Error>
  /** Resolves when the read models have reached the log's head at the start, or when the service stops. */
  ready(): Promise<void>
  /**
   * Sets readiness to 503, completes requests under way, then closes everything: within 10 s, even if stores are
   * unavailable.
   */
  stop(): Promise<void>
}

const READY_POLL_MS = 20

type StartOptions = {
  /** Rejects writes, and requires an installation in the log. */
  readonly isReadOnly?: boolean
  /** Ends a start that waits for the log. */
  readonly signal?: AbortSignal
}

/**
 * Starts the components of the installation's roles. Waits up to 30 s for a log on a server.
 * @throws NoInstallation, or errors of stores, keys or the port; everything is closed then
 */
export async function startService(
  installation: Installation,
  { isReadOnly = false, signal }: StartOptions = {},
): Promise<RunningService> {
  const { settings, log, metricsRegistry } = installation
  const parts = new ServiceParts(log, metricsRegistry)
  parts.add({ stage: 'stores', name: 'stores', stop: () => installation.close() })
  const observability = {
    traffic: new RequestActivity(),
    requestMetrics: new RequestMetrics(metricsRegistry, ENDPOINTS),
  }
  try {
    const isHttp = settings.ROLES.includes('http')
    const server = isHttp ? await listenForRequests(installation, observability, parts) : undefined
    const guarded = guardInstallation(isReadOnly ? readOnly(installation) : installation, parts)
    const abortStart = () => guarded.startWait.end()
    if (signal?.aborted === true) abortStart()
    signal?.addEventListener('abort', abortStart, { once: true })
    await requireInstallation(guarded.installation, isReadOnly ? 'served read-only' : 'served')
    return await startComponents(guarded, server, observability, parts)
  } catch (error) {
    await parts.close()
    throw error
  }
}

async function startComponents(
  { installation: guarded, stale, startWait }: GuardedInstallation,
  httpServer: ListeningServer | undefined,
  observability: RequestObservability,
  parts: ServiceParts,
): Promise<RunningService> {
  const installation = { ...guarded, store: shareReads(guarded.store) }
  const { settings, store } = installation
  const urls = publicUrlsOf(settings, httpServer?.port ?? settings.PORT)
  const state = { stopping: false }
  await requireServable(installation)
  // An embedded log's thread that cannot start ends the start; a disk that rejects writes only makes the service unready.
  await store.diskErrorMessage()
  await compareClockWithLog(installation)
  const rollbackMonitor = await LogRollbackMonitor.open(installation, parts)
  registerBreakerMetrics(installation)
  registerVaultMetrics(installation)
  const delay = new EventLoopDelay()
  parts.add({ stage: 'stores', name: 'event loop delay', stop: async () => delay.stop() })
  registerProcessMetrics(installation, delay)
  const consumers = await Consumers.open(installation, parts)
  registerLogMetrics(installation, consumers.checkpointed())
  const { model, progress } = consumers.readModel(diamonds)
  const changes = openChangeFeeds(installation, consumers.readModel(diamonds), stale, parts)
  const secrets = openSecrets(installation, urls, consumers.readModel(secretsModel), parts)
  const webhooks = openWebhooks(installation, urls.base, consumers.readModel(webhooksModel), changes)
  const { maxScannedDiamonds, readModelTimeoutMs } = installation
  const queries = new DiamondQueries(model, store, progress, stale, maxScannedDiamonds, readModelTimeoutMs)
  const stockImports = openImports(installation, queries, consumers.readModel(imports), parts)
  const evidence = await openEvidence(installation, consumers.readModel(merkleTree))
  const head = await store.head()
  await consumers.startReadModels()
  const reports = openReportReading(installation, consumers.readModel(certifications), parts)
  const scoring = openScoring(installation, observability.traffic, parts)

  async function notReadyToRead(): Promise<string[]> {
    const reasons = state.stopping ? ['the service is stopping'] : []
    if ((await ifAvailable(() => model.position())) === undefined)
      return [...reasons, 'the read models are unavailable']
    if (!rollbackMonitor.areStoresVerified) reasons.push('the vault and the files were not yet compared with the log')
    return [...reasons, ...(await consumers.notReadyReasons(head))]
  }

  const notReadyReasons = async () => [...(await notReadyToRead()), ...(await findWriteRefusals(installation))]
  /** Without addresses of servers and paths of files. */
  const publicReasons = async () => {
    const refusals = await findWriteRefusals(installation)
    return [...(await notReadyToRead()), ...(refusals.length === 0 ? [] : [WRITES_REFUSED])]
  }

  async function openHttp(): Promise<RequestListener> {
    const dependencies = {
      readModels: consumers,
      queries,
      changes,
      certifications: reports.queries,
      secrets,
      webhooks,
      imports: stockImports,
      evidence,
      stale,
      notReadyReasons: publicReasons,
    }
    return openHttpService(installation, urls, dependencies, observability, parts)
  }

  // Checked before the service is reachable; later changes are handled by the components themselves.
  const closed = await store.closedReason()
  const isServedReadOnly = closed !== undefined && isIntentionallyReadOnly(closed.why)
  const listener = httpServer && (await openHttp())
  // Requests get 503 instead of waiting for the log.
  startWait.end()
  if (listener !== undefined) httpServer?.serve(listener)
  const metricsServer = await listenForMetrics(installation, { notReadyReasons })
  if (metricsServer !== undefined) parts.add({ stage: 'requests', name: 'metrics', stop: () => metricsServer.stop() })
  const startWork = async () => {
    if (isServedReadOnly || state.stopping) return
    await consumers.startWork({
      ...installation,
      ...secrets.tools,
      ...webhooks.tools,
      ...stockImports.tools,
      signer: evidence.signer,
      scoring,
      reports: reports.tools,
      collector: new FileGarbageCollector({
        ...installation,
        requireLogUnchanged: () => rollbackMonitor.requireLogUnchanged(),
        referencingModels: [
          { ...consumers.readModel(certifications), digestFields: ['digest'] },
          { ...consumers.readModel(stoneModels), digestFields: ['digest'] },
          { ...consumers.readModel(imports), digestFields: ['file', 'reading'] },
        ],
      }),
    })
  }
  // Jobs delete what the log does not refer to, so they must not run on the stores of another log.
  const workStarted = rollbackMonitor.storesVerified.then(startWork)
  if (rollbackMonitor.areStoresVerified) await workStarted
  const workFailure = new Promise<Error>((resolve) => void workStarted.catch(resolve))
  return {
    url: httpServer && urls.base,
    local: httpServer && localUrl(settings, httpServer.port),
    metrics: metricsServer && localUrl(settings, metricsServer.port),
    fatalError: Promise.race([rollbackMonitor.fatalError, workFailure]),
    async ready() {
      while (!state.stopping && (await notReadyToRead()).length > 0) await pause(READY_POLL_MS)
    },
    stop() {
      state.stopping = true
      return parts.close()
    },
  }
}

/** A closed log that is complete can be served read-only; an incomplete one can't. @throws LogClosed */
async function requireServable({ store, log }: Installation): Promise<void> {
  const closed = await store.closedReason()
  if (closed === undefined) return
  if (isIntentionallyReadOnly(closed.why)) return void log.warn(describeReadOnlyState(closed))
  if (closed.why !== 'fenced') throw new LogClosed(closed)
  log.warn({ to: closed.to }, 'this installation was moved to another one: it serves reads only')
}

/**
 * Before this process appends anything: a clock that is wrong at the start must not permanently end what has not expired.
 * @throws StoreUnavailable
 */
async function compareClockWithLog({ store, clock, log }: Installation): Promise<void> {
  const head = await store.head()
  const newest = head === 'start' ? undefined : await store.eventAt(head)
  const aheadMs = clock.compareWith(newest === undefined ? clock.now() : eventTimeOf(newest))
  if (!clock.isSettled())
    log.info(
      { hours: Math.round(aheadMs / 3_600_000) },
      "the system's clock is ahead of the newest event in the log: expired secrets are deleted in 5 minutes, if the clock stays as it is",
    )
}
