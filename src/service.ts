import type { RequestListener } from 'node:http'
import { openCertifications, startCertificationProjections } from './certification-service.ts'
import { IdBlocks } from './commands/integer-ids.ts'
import { openLinkKey } from './commands/link-key.ts'
import { createApp, type Resource } from './http/app.ts'
import { constantsResource, cutShapesResource } from './http/constants.ts'
import { directReads } from './http/diamonds/direct.ts'
import { diamondResource } from './http/diamonds/routes.ts'
import { healthResource, metricsResource, type Metric } from './http/health.ts'
import { Links } from './http/links.ts'
import { Pictures } from './http/report/pictures.ts'
import { reportResource } from './http/report/routes.ts'
import { listen, type Listening } from './http/server.ts'
import type { Installation } from './installation.ts'
import { ActiveRunner } from './projections/active-runner.ts'
import type { CertificationQueries } from './projections/certification-queries.ts'
import { DiamondQueries } from './projections/diamond-queries.ts'
import { diamonds } from './projections/diamonds.ts'
import { ProjectionRunner } from './projections/runner.ts'
import { addressesOf, type Addresses } from './addresses.ts'
import { collectMetrics } from './metrics.ts'
import { openSecretsService, type SecretsService } from './secrets-service.ts'
import { openScoring } from './scoring-service.ts'
import { openTracePool } from './scoring/trace-pool.ts'
import { openTokenService } from './token-service.ts'

export type Running = {
  /** Where the service listens; undefined where its role is only to project. */
  readonly url: string | undefined
  /** Resolves when the read models have reached the head that the log had at the start, or when the service stops. */
  ready(): Promise<void>
  /** Ready turns to 503, requests under way are finished, then everything is closed. */
  stop(): Promise<void>
}

/** Ids of a block that one event reserves; the next block is fetched when half of it is gone. */
const DIAMOND_IDS = { size: 2_000, ahead: 1_000 }

/** Milliseconds between two looks while the service waits for its read models. */
const READY_POLL = 20

/** Starts what the installation's roles ask for. @throws what a store, the keys or the port say; all is closed then */
export async function startService(installation: Installation): Promise<Running> {
  const { settings, store, reads, log } = installation
  const runner = new ProjectionRunner(diamonds, store, reads, log)
  const model = await reads.model(diamonds.declaration)
  const active = new ActiveRunner(runner, reads, model, log)
  const secrets = await openSecretsService(installation)
  const head = await store.head()
  if (settings.ROLES.includes('projections')) await active.start()
  const certified = await startCertificationProjections(installation)
  const scoring = await openScoring(installation)
  if (settings.ROLES.includes('projections')) await scoring.start()
  const started: { stopping: boolean; readonly stop: (() => Promise<unknown>)[] } = { stopping: false, stop: [] }

  async function waiting(): Promise<string[]> {
    const reasons = started.stopping ? ['the service is stopping'] : []
    if (!(await active.reached(head, 0))) reasons.push('the diamonds read model is behind the log')
    if (!(await secrets.reached(head))) reasons.push('the secrets read model is behind the log')
    if (!(await certified.progress.reached(head, 0))) reasons.push('the certifications read model is behind the log')
    return reasons
  }

  let listening: Listening | undefined
  async function stop(): Promise<void> {
    started.stopping = true
    await listening?.stop()
    for (const stopOne of started.stop) await stopOne()
    await secrets.stop()
    await scoring.stop()
    await certified.stop()
    await active.stop()
    await installation.close()
  }

  try {
    if (settings.ROLES.includes('http')) {
      const queries = new DiamondQueries(model, store, active)
      const metrics = async () => [...(await collectMetrics(installation, model, active)), ...(await scoring.metrics())]
      const views = { queries, certifications: certified.queries, secrets }
      const http = await openHttp(installation, views, waiting, metrics)
      started.stop.push(http.stop)
      listening = await listen(http.appFor, settings.HOST, settings.PORT)
    }
    await secrets.start(addressesOf(settings, listening?.port ?? settings.PORT))
  } catch (error) {
    await stop()
    throw error
  }

  return {
    url: listening && addressesOf(settings, listening.port).base,
    async ready() {
      while (!started.stopping && (await waiting()).length > 0) await pause(READY_POLL)
    },
    stop,
  }
}

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms))

type OpenHttp = {
  readonly appFor: (port: number) => RequestListener
  readonly stop: () => Promise<void>
}

type Views = {
  readonly queries: DiamondQueries
  readonly certifications: CertificationQueries
  readonly secrets: SecretsService
}

async function openHttp(
  installation: Installation,
  { queries, certifications, secrets }: Views,
  waiting: () => Promise<string[]>,
  metrics: () => Promise<Metric[]>,
): Promise<OpenHttp> {
  const { settings, store, writing, keys, log } = installation
  const linkKey = await openLinkKey(store, keys, writing.clock)
  const origin = { actor: 'service', via: 'http', correlation: 'ids' } as const
  const diamondIds = new IdBlocks({ store, clock: writing.clock, kind: 'diamond', ...DIAMOND_IDS, origin })
  const tokens = await openTokenService(installation)
  const inventory = { ...writing, diamondIds }
  const drawing = openTracePool()
  const pictures = new Pictures(drawing.drawInWorker)
  const { authenticate } = tokens
  const certificationsFor = openCertifications(installation, { certifications, queries, authenticate })

  function resourcesFor(addresses: Addresses, links: Links): Resource[] {
    const service = { inventory, queries, links, authenticate }
    return [
      diamondResource('v4', service),
      diamondResource('v3', service),
      certificationsFor(links),
      reportResource({ queries, links, pictures }),
      constantsResource(),
      cutShapesResource(),
      ...tokens.resources(addresses),
      ...secrets.resources(addresses, tokens.apiTokens),
      healthResource(waiting),
      metricsResource(metrics),
    ]
  }

  return {
    appFor(port) {
      const addresses = addressesOf(settings, port)
      const links = new Links(addresses.base, linkKey)
      const resources = resourcesFor(addresses, links)
      const app = createApp({ resources, log, trustProxy: settings.TRUST_PROXY }).callback()
      const direct = directReads({ queries, links }, tokens.bearer)
      return (req, res) => void (direct(req, res) || app(req, res))
    },
    async stop() {
      await drawing.close()
      tokens.stop()
    },
  }
}
