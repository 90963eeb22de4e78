import { Router } from '@koa/router'
import { Refusal } from '../../domain/refusal.ts'
import type { Resource } from '../kit/app.ts'
import { isNearby } from '../kit/nearby.ts'
import type { RequestState, Step } from '../kit/request.ts'

/** What is not ready yet, each with its reason; empty when the service is ready. */
export type Readiness = () => Promise<readonly string[]>

/** One sample of a gauge or counter, in Prometheus' text format. */
export type Metric = {
  readonly name: string
  readonly help: string
  readonly kind: 'gauge' | 'counter'
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}

/** `/health/live` and `/health/ready` for whoever starts and watches the service. */
export function healthResource(readiness: Readiness): Resource {
  const router = new Router<RequestState>()
  router.get('/health/live', (ctx) => {
    ctx.set('Cache-Control', 'no-store')
    ctx.body = { status: 'live' }
  })
  router.get('/health/ready', async (ctx) => {
    const waiting = await readiness()
    ctx.set('Cache-Control', 'no-store')
    ctx.status = waiting.length === 0 ? 200 : 503
    if (waiting.length > 0) ctx.set('Retry-After', '1')
    ctx.body = waiting.length === 0 ? { status: 'ready' } : { status: 'waiting', waiting }
  })
  return { prefix: '/health', router }
}

/**
 * `/metrics`: https://prometheus.io/docs/instrumenting/exposition_formats/
 * @param nearbyOnly whether it is for this machine and private networks alone
 */
export function metricsResource(collect: () => Promise<readonly Metric[]>, nearbyOnly: boolean): Resource {
  const router = new Router<RequestState>()
  router.get('/metrics', nearbyOnly ? refuseFarther : (_ctx, next) => next(), async (ctx) => {
    ctx.set('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
    ctx.set('Cache-Control', 'no-store')
    ctx.body = (await collect()).map(written).join('')
  })
  return { prefix: '/metrics', router }
}

function written({ name, help, kind, value, labels = {} }: Metric): string {
  const named = Object.entries(labels).map(
    ([label, text]) => `${label}="${text.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`,
  )
  const sample = named.length === 0 ? name : `${name}{${named.join(',')}}`
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${sample} ${value}\n`
}

const refuseFarther: Step = (ctx, next) => {
  if (isNearby(ctx.req)) return next()
  const message = 'Metrics are for this machine and private networks; METRICS_PORT gives them a port of their own'
  throw new Refusal('forbidden', message)
}
