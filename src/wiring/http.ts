import type { RequestListener } from 'node:http'
import { publicUrlsOf, isPublicByHttps } from './settings.ts'
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
import { createOpenApiDocument } from '../http/openapi/description.ts'
import { LongPollLimiter } from '../http/changes/changes.ts'
import { cookieFor } from '../http/inventory/session.ts'
import { FormUploads } from '../http/files/form-uploads.ts'
import { SignedLinks } from '../http/kit/signed-links.ts'
import type { RequestActivity } from '../http/kit/request-activity.ts'
import { StonePictureCache } from '../http/report/pictures.ts'
import { openPictureStore, createStoneModels } from './scoring.ts'
import type { ChangeFeeds } from './change-feeds.ts'
import type { OpenEvidence } from './evidence.ts'
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

/** Creates the request listener once the port, which links contain, is known. */
export type HttpService = {
  readonly appFor: (port: number) => RequestListener
}

type HttpDependencies = {
  readonly readModels: ReadModelRegistry
  readonly queries: DiamondQueries
  readonly changes: ChangeFeeds
  readonly certifications: CertificationQueries
  readonly secrets: OpenSecrets
  readonly webhooks: OpenWebhooks
  readonly evidence: OpenEvidence
  readonly stale: StaleReadPolicy
}

/** State of the whole service, and its recorders of requests. */
type ServiceObservability = {
  readonly notReadyReasons: () => Promise<string[]>
  readonly traffic: RequestActivity
  readonly requestMetrics: RequestMetrics
}

/**
 * Opens and composes everything that the role http needs.
 * @throws WrongMasterKey, StoreUnavailable
 */
export async function openHttpService(
  installation: Installation,
  { readModels, queries, changes, certifications, secrets, webhooks, evidence, stale }: HttpDependencies,
  { notReadyReasons, traffic, requestMetrics }: ServiceObservability,
  parts: ServiceParts,
): Promise<HttpService> {
  const { settings, store, files, people, context, keys, metricsRegistry, log } = installation
  const logRequest = createRequestLogger(installation)
  const recordRequest = (request: RequestLogEntry) => {
    requestMetrics.record(request)
    logRequest(request)
  }
  const linkKeys = await LinkKeys.open(context, keys)
  await people.loadKey()
  const origin = { actor: 'service', via: 'http', correlation: 'ids' } as const
  const diamondIds = new IdAllocator({ ...context, kind: 'diamond', ...DIAMOND_IDS, origin })
  const tokens = await openTokens(installation, parts, linkKeys, stale)
  const drawingPool = openTracePool()
  parts.add({ stage: 'dependencies', name: 'pictures', stop: () => drawingPool.close() })
  const uploads = new FormUploads(files)
  const certificationsFor = openCertifications(installation, certifications, queries, uploads)
  const { inspect, draw } = createStoneModels(drawingPool, files)
  const pictures = new StonePictureCache(
    ({ subject, kind }) =>
      'cut' in subject ? drawingPool.drawInWorker({ subject, kind }) : draw(subject.model, { kind }),
    openPictureStore(installation),
  )

  const webhooksFor = await webhooks.openServices()

  return {
    appFor(port) {
      const addresses = publicUrlsOf(settings, port)
      const links = new SignedLinks(addresses.base, linkKeys, context.clock)
      const endpoints = ENDPOINTS.filter((one) => one !== readMetrics || settings.METRICS_PORT === undefined)
      const apiInfo = { baseUrl: addresses.base, version: VERSION }
      let openApiJson: Buffer | undefined
      const services: EndpointServices = {
        readModels,
        bearer: tokens.bearer,
        certifications: certificationsFor(links),
        report: { queries, links, pictures, store, people },
        diamonds: { context: { ...context, diamondIds }, queries, links, people },
        models: { context, queries, files, uploads, links, inspect },
        changes: { feed: changes.feedFor(links), longPollLimiter: new LongPollLimiter() },
        health: { notReadyReasons },
        metricsRegistry,
        openApi: {
          json: () =>
            (openApiJson ??= Buffer.from(
              JSON.stringify(createOpenApiDocument(endpoints.filter(isApiEndpoint), apiInfo)),
            )),
        },
        front: { baseUrl: addresses.base },
        wellKnown: { contact: settings.SECURITY_CONTACT, baseUrl: addresses.base, clock: context.clock },
        sessions: tokens.sessions,
        browser: {
          ...tokens.browser,
          cookie: cookieFor(isPublicByHttps(settings)),
          ownOrigins: [new URL(addresses.base).origin],
        },
        authorizationServer: { baseUrl: addresses.auth },
        secrets: secrets.services(addresses, tokens.apiTokens),
        secretPages: secrets.pages(addresses),
        webhooks: webhooksFor(addresses.base),
        evidence: evidence.services,
      }
      const app = createApp(endpoints, services, {
        log: createErrorLogger(log),
        onResponse: recordRequest,
        onLongPoll: (res) => traffic.excludeLongPoll(res),
        readModelTimeoutMs: installation.readModelTimeoutMs,
        trustProxy: settings.TRUST_PROXY,
        https: isPublicByHttps(settings),
        allowedOrigins: settings.CORS_ORIGINS,
      })
      const handleRequest = app.callback()
      return (req, res) => {
        traffic.track(res)
        void handleRequest(req, res)
      }
    },
  }
}
