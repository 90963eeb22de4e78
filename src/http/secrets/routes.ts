import { Router } from '@koa/router'
import type { Secrets } from '../../commands/secrets/secrets.ts'
import type { RecentSecrets } from '../../projections/secrets/recent-secrets.ts'
import type { MailLimits } from '../../credentials/mail-limits.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Resource } from '../kit/app.ts'
import { refuseCrossSite, type Sites } from '../kit/cross-site.ts'
import type { RequestState, Step } from '../kit/request.ts'
import { secretsBody } from './error-body.ts'
import { limitAccount, limitAddress, type RateLimit } from './rate-limit.ts'
import { burn, metadata, recent, reveal } from './read.ts'
import { readSender, requireSender, type ApiTokens } from './sender.ts'
import { generate, share } from './share.ts'

export type SecretsService = {
  readonly secrets: Secrets
  readonly mailLimits: MailLimits
  /** Whose pages may post here. */
  readonly sites: Sites
  readonly recent: RecentSecrets
  readonly apiTokens: ApiTokens
  readonly rateLimit: RateLimit
  /** Whether share and generate are open to who has no account. */
  readonly anonymous: boolean
}

const PREFIX = '/api/v1'

/** The one-time secret API, version 1. Names that the original has had for the same thing are aliases. */
export function secretsResource(service: SecretsService): Resource {
  const { secrets, apiTokens, rateLimit, anonymous, sites } = service
  const router = new Router<RequestState>()
  const known = [
    unstored,
    refuseCrossSite(sites),
    limitAddress(rateLimit),
    readSender(apiTokens),
    limitAccount(rateLimit),
  ]
  const sharing = [...known, anonymous ? pass : requireSender]
  router.get(`${PREFIX}/status`, ...known, status)
  router.get(`${PREFIX}/authcheck`, ...known, requireSender, status)
  router.post([`${PREFIX}/share`, `${PREFIX}/create`], ...sharing, share(service))
  router.post(`${PREFIX}/generate`, ...sharing, generate(service))
  router.post(`${PREFIX}/secret/:key`, ...known, reveal(secrets))
  for (const name of ['private', 'metadata', 'receipt']) {
    router.get(`${PREFIX}/${name}/recent`, ...known, requireSender, recent(service.recent))
    router.post(`${PREFIX}/${name}/recent`, unstored, onlyRead)
    router.get(`${PREFIX}/${name}/:key`, ...known, metadata(secrets))
    router.post(`${PREFIX}/${name}/:key`, ...known, metadata(secrets))
    router.post(`${PREFIX}/${name}/:key/burn`, ...known, burn(secrets))
  }
  return { prefix: PREFIX, router, errorBody: secretsBody }
}

/** Nothing of this is for a cache. */
export const UNSTORED = { 'Cache-Control': 'no-store' } as const

const unstored: Step = (ctx, next) => {
  ctx.set(UNSTORED)
  return next()
}

/** Else a POST would ask for a secret of the key `recent`. */
const onlyRead: Step = (ctx) => {
  ctx.set('Allow', 'HEAD, GET, OPTIONS')
  throw new Refusal('not-allowed', 'POST is not possible here; HEAD, GET, OPTIONS is')
}

const pass: Step = (_ctx, next) => next()

const status: Step = (ctx) => {
  ctx.body = { status: 'nominal', locale: 'en' }
}
