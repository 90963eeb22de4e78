import type { RequestListener } from 'node:http'
import { addressesOf, isPublicByHttps } from './settings.ts'
import { openCertifications } from './certifications.ts'
import { IdBlocks } from '../commands/installation/integer-ids.ts'
import { LinkKeys } from '../commands/installation/link-key.ts'
import { ENDPOINTS, type Services } from '../http/endpoints.ts'
import { isForPrograms } from '../http/openapi/operation.ts'
import type { RequestFigures } from '../http/health/health.ts'
import type { Seen } from '../http/middleware/access-log.ts'
import { requestLog } from './logs.ts'
import { errorLog } from '../http/kit/errors.ts'
import { readMetrics } from '../http/health/metrics.ts'
import { createApp } from '../http/app.ts'
import { describe } from '../http/openapi/description.ts'
import { WaitingPlaces } from '../http/changes/changes.ts'
import { cookieFor } from '../http/inventory/session.ts'
import { FormUploads } from '../http/files/form-uploads.ts'
import { Links } from '../http/kit/links.ts'
import type { Traffic } from '../http/kit/traffic.ts'
import { Pictures } from '../http/report/pictures.ts'
import { keptPictures, stoneModelsFrom } from './scoring.ts'
import type { OpenChanges } from './changes.ts'
import type { OpenEvidence } from './evidence.ts'
import type { Installation } from './installation.ts'
import type { OpenParts } from './open-parts.ts'
import type { CertificationQueries } from '../projections/certifications/certifications.ts'
import type { DiamondQueries } from '../projections/diamonds/diamond-queries.ts'
import type { ReadModels } from '../projections/engine/followers.ts'
import type { StaleReads } from '../projections/engine/stale-reads.ts'
import { VERSION } from '../runtime/version.ts'
import { openTracePool } from '../scoring/trace-pool.ts'
import type { OpenSecrets } from './secrets.ts'
import type { OpenWebhooks } from './webhooks.ts'
import { openTokens } from './tokens.ts'

/** Ids of a block that one event reserves; the next block is fetched when half of it is gone. */
const DIAMOND_IDS = { size: 2_000, ahead: 1_000 }

/** What answers requests, once the port is known that links name. */
export type OpenHttp = {
  readonly appFor: (port: number) => RequestListener
}

/** What requests are answered from. */
export type Views = {
  readonly readModels: ReadModels
  readonly queries: DiamondQueries
  readonly changes: OpenChanges
  readonly certifications: CertificationQueries
  readonly secrets: OpenSecrets
  readonly webhooks: OpenWebhooks
  readonly evidence: OpenEvidence
  readonly stale: StaleReads
}

/** What is told of the whole service, and what the rest of it is told of requests. */
export type Observed = {
  readonly waiting: () => Promise<string[]>
  readonly metrics: () => Promise<string>
  readonly traffic: Traffic
  readonly figures: RequestFigures
}

/**
 * Opens everything that the role of answering requests needs, and composes it.
 * @throws WrongMasterKey, StoreUnavailable
 */
export async function openHttp(
  installation: Installation,
  { readModels, queries, changes, certifications, secrets, webhooks, evidence, stale }: Views,
  { waiting, metrics, traffic, figures }: Observed,
  parts: OpenParts,
): Promise<OpenHttp> {
  const { settings, store, files, people, writing, keys, log } = installation
  const logged = requestLog(installation)
  const seen = (request: Seen) => {
    figures.saw(request)
    logged(request)
  }
  const linkKeys = await LinkKeys.open(writing, keys)
  await people.ready()
  const origin = { actor: 'service', via: 'http', correlation: 'ids' } as const
  const diamondIds = new IdBlocks({ ...writing, kind: 'diamond', ...DIAMOND_IDS, origin })
  const tokens = await openTokens(installation, parts, linkKeys, stale)
  const inventory = { ...writing, diamondIds }
  const drawing = openTracePool()
  parts.add({ stage: 'views', name: 'pictures', stop: () => drawing.close() })
  const uploads = new FormUploads(files)
  const certificationsFor = openCertifications(installation, certifications, queries, uploads)
  const { inspect, drawn } = stoneModelsFrom(drawing, files)
  const pictures = new Pictures(
    ({ shown, look }) =>
      'cut' in shown ? drawing.drawInWorker({ pictured: shown, look }) : drawn(shown.model, { look }),
    keptPictures(installation),
  )

  const webhooksAt = await webhooks.openServices()

  return {
    appFor(port) {
      const addresses = addressesOf(settings, port)
      const links = new Links(addresses.base, linkKeys, writing.clock)
      const offered = ENDPOINTS.filter((one) => one !== readMetrics || settings.METRICS_PORT === undefined)
      const about = { address: addresses.base, version: VERSION }
      let described: string | undefined
      const services: Services = {
        readModels,
        bearer: tokens.bearer,
        certifications: certificationsFor(links),
        report: { queries, links, pictures, store, people },
        diamonds: { inventory, queries, links, people },
        models: { writing, queries, files, uploads, links, inspect },
        changes: { feed: changes.feedWith(links), places: new WaitingPlaces() },
        health: { waiting },
        metrics: { text: metrics },
        openApi: { text: () => (described ??= JSON.stringify(describe(offered.filter(isForPrograms), about))) },
        front: { address: addresses.base },
        wellKnown: { contact: settings.SECURITY_CONTACT, address: addresses.base, clock: writing.clock },
        sessions: tokens.sessions,
        browser: {
          ...tokens.browser,
          cookie: cookieFor(isPublicByHttps(settings)),
          own: [new URL(addresses.base).origin],
        },
        authorizationServer: { address: addresses.auth },
        secrets: secrets.services(addresses, tokens.apiTokens),
        secretPages: secrets.pages(addresses),
        webhooks: webhooksAt(addresses.base),
        evidence: evidence.services,
      }
      const app = createApp(offered, services, {
        log: errorLog(log),
        seen,
        waits: (res) => traffic.waits(res),
        patience: installation.patience,
        trustProxy: settings.TRUST_PROXY,
        https: isPublicByHttps(settings),
        origins: settings.CORS_ORIGINS,
      })
      const answer = app.callback()
      return (req, res) => {
        traffic.saw(res)
        void answer(req, res)
      }
    },
  }
}
