import type { RequestListener } from 'node:http'
import { isPublicByHttps } from './settings.ts'
import { openCertifications } from './certifications.ts'
import { IdAllocator } from '../commands/installation/id-allocator.ts'
import { LinkKeys } from '../commands/installation/link-key.ts'
import { ENDPOINTS, type EndpointServices } from '../http/endpoints.ts'
import { isApiEndpoint } from '../http/openapi/operation.ts'
import type { RequestMetrics } from '../http/health/health.ts'
import type { RequestLogEntry } from '../http/middleware/access-log.ts'
import { createRequestLogger } from './logs.ts'
import { createErrorLogger } from '../http/kit/errors.ts'
import { readMetrics } from '../http/health/metrics.ts'
import { createApp } from '../http/app.ts'
import { CONNECTION_LIMITS, listen, type ListeningServer } from '../http/kit/server.ts'
import { STARTING_ENDPOINTS } from '../http/starting.ts'
import { ChangeFeed, type ChangeFeedOptions } from '../projections/diamonds/change-feed.ts'
import { createOpenApiDocument } from '../http/openapi/description.ts'
import { createLongPollSlots } from '../http/changes/changes.ts'
import { createExportSlots, createFeedSlots } from '../http/exports/exports.ts'
import { cookieFor } from '../http/inventory/session.ts'
import { FormUploads } from '../http/files/form-uploads.ts'
import type { PublicUrls } from '../http/kit/public-urls.ts'
import { SignedLinks } from '../http/kit/signed-links.ts'
import { defineWidget } from '../http/report/layout.ts'
import type { RequestActivity } from '../http/kit/request-activity.ts'
import { StonePictureCache } from '../http/report/pictures.ts'
import { openPictureStore, createStoneModels } from './scoring.ts'
import type { OpenEvidence } from './evidence.ts'
import type { OpenImports } from './imports.ts'
import type { Installation } from './installation.ts'
import type { ServiceParts } from './service-parts.ts'
import type { CertificationQueries } from '../projections/certifications/certifications.ts'
import type { DiamondQueries } from '../projections/diamonds/diamond-queries.ts'
import type { ReadModelRegistry } from '../projections/engine/background-services.ts'
import type { StaleReadPolicy } from '../projections/engine/stale-reads.ts'
import { VERSION } from '../runtime/version.ts'
import { openTracePool } from '../optics/threads/trace-pool.ts'
import type { OpenSecrets } from './secrets.ts'
import type { OpenWebhooks } from './webhooks.ts'
import { openTokens } from './tokens.ts'

/** Ids are reserved in blocks, one event per block; the next block is fetched when half of the current one is used. */
const DIAMOND_IDS = { size: 2_000, prefetchThreshold: 1_000 }

type HttpDependencies = {
  readonly readModels: ReadModelRegistry
  readonly queries: DiamondQueries
  readonly changes: ChangeFeedOptions
  readonly certifications: CertificationQueries
  readonly secrets: OpenSecrets
  readonly webhooks: OpenWebhooks
  readonly imports: OpenImports
  readonly evidence: OpenEvidence
  readonly stale: StaleReadPolicy
  readonly notReadyReasons: () => Promise<string[]>
}

/**
 * Listens for requests. Until another listener serves them they get 503 with Retry-After, except the liveness check.
 * @throws the system's error, such as EADDRINUSE
 */
export async function listenForRequests(
  installation: Installation,
  observability: RequestObservability,
  parts: ServiceParts,
): Promise<ListeningServer> {
  const { HOST: host, PORT: port, MAX_CONNECTIONS: maxConnections, TRUST_PROXY: trustProxy } = installation.settings
  const onRefused = () => observability.requestMetrics.refusedConnections.inc()
  const app = createApp(STARTING_ENDPOINTS, undefined, { ...appOptions(installation, observability), log: () => {} })
  const server = await listen(app.callback(), {
    host,
    port,
    https: isPublicByHttps(installation.settings),
    limits: { ...CONNECTION_LIMITS, maxConnections, trustProxy, onRefused },
  })
  parts.add({ stage: 'requests', name: 'requests', stop: () => server.stop() })
  return server
}

/** Recorders of requests. */
export type RequestObservability = { readonly traffic: RequestActivity; readonly requestMetrics: RequestMetrics }

function appOptions(installation: Installation, { requestMetrics }: RequestObservability) {
  const { settings, readModelTimeoutMs, log } = installation
  const logRequest = createRequestLogger(installation)
  return {
    log: createErrorLogger(log),
    onResponse: (request: RequestLogEntry) => {
      requestMetrics.record(request)
      logRequest(request)
    },
    readModelTimeoutMs,
    trustProxy: settings.TRUST_PROXY,
    https: isPublicByHttps(settings),
    allowedOrigins: settings.CORS_ORIGINS,
  }
}

/**
 * Opens and composes everything that the role http needs.
 * @throws WrongMasterKey, StoreUnavailable
 */
export async function openHttpService(
  installation: Installation,
  urls: PublicUrls,
  {
    readModels,
    queries,
    changes,
    certifications,
    secrets,
    webhooks,
    imports,
    evidence,
    stale,
    notReadyReasons,
  }: HttpDependencies,
  observability: RequestObservability,
  parts: ServiceParts,
): Promise<RequestListener> {
  const { settings, files, people, context, keys, metricsRegistry } = installation
  const linkKeys = await LinkKeys.open(context, keys)
  const links = new SignedLinks(urls.base, linkKeys, context.clock)
  await people.loadKey()
  const origin = { actor: 'service', via: 'http', correlation: 'ids' } as const
  const diamondIds = new IdAllocator({ ...context, kind: 'diamond', ...DIAMOND_IDS, origin })
  const tokens = await openTokens(installation, parts, linkKeys, stale)
  const drawingPool = openTracePool()
  parts.add({ stage: 'dependencies', name: 'pictures', stop: () => drawingPool.close() })
  const uploads = new FormUploads(files)
  const { inspect, draw } = createStoneModels(drawingPool, files)
  const pictures = new StonePictureCache(
    ({ subject, kind }) =>
      'cut' in subject ? drawingPool.drawInWorker({ subject, kind }) : draw(subject.model, { kind }),
    openPictureStore(installation),
  )

  const endpoints = ENDPOINTS.filter((one) => one !== readMetrics || settings.METRICS_PORT === undefined)
  const apiInfo = { baseUrl: urls.base, version: VERSION }
  let openApiJson: Buffer | undefined
  const services: EndpointServices = {
    readModels,
    bearer: tokens.bearer,
    certifications: openCertifications(installation, certifications, queries, { uploads, links }),
    diamonds: { context: { ...context, diamondIds }, queries, links, people },
    pictures,
    widgets: { respond: defineWidget(settings.EMBED_ORIGINS) },
    models: { context, queries, files, uploads, links, inspect },
    exports: { slots: createExportSlots() },
    feeds: { slots: createFeedSlots() },
    changes: {
      feed: new ChangeFeed(changes, links),
      longPollSlots: createLongPollSlots(),
      activity: observability.traffic,
    },
    health: { notReadyReasons },
    metricsRegistry,
    openApi: {
      json: () =>
        (openApiJson ??= Buffer.from(JSON.stringify(createOpenApiDocument(endpoints.filter(isApiEndpoint), apiInfo)))),
    },
    urls,
    wellKnown: { contact: settings.SECURITY_CONTACT, clock: context.clock },
    sessions: tokens.sessions,
    browser: {
      ...tokens.browser,
      cookie: cookieFor(isPublicByHttps(settings)),
      ownOrigins: [new URL(urls.base).origin],
    },
    secrets: secrets.services(tokens.apiTokens),
    webhooks: await webhooks.openServices(),
    imports: { ...imports.services, uploads },
    evidence: evidence.services,
  }
  const app = createApp(endpoints, services, appOptions(installation, observability))
  const handleRequest = app.callback()
  return (req, res) => {
    observability.traffic.track(res)
    void handleRequest(req, res)
  }
}
