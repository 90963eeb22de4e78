import { Router } from '@koa/router'
import type { Secrets } from '../../commands/secrets/secrets.ts'
import type { Resource } from '../kit/app.ts'
import { refuseCrossSite, type Sites } from '../kit/cross-site.ts'
import type { ErrorBody } from '../kit/errors.ts'
import { html } from '../kit/html.ts'
import type { RequestState, Step } from '../kit/request.ts'
import { countAddress, type RateLimit } from '../secrets/rate-limit.ts'
import { sendPage } from './layout.ts'
import { askReader, showSecret } from './reader.ts'
import { burnByPage, showReceipt } from './sender.ts'

export type SecretPages = {
  readonly secrets: Secrets
  readonly rateLimit: RateLimit
  /** Whose pages may post here: its own. */
  readonly sites: Sites
  /** Where links start, such as https://secrets.example.com. */
  readonly address: string
}

/** `/secret/{secret key}` for who reads, `/private/{metadata key}` for who has shared. */
export function secretPageResources(pages: SecretPages): Resource[] {
  const limited: Step = (ctx, next) => {
    countAddress(pages.rateLimit, ctx.ip)
    return next()
  }
  const reader = new Router<RequestState>()
  reader.get('/secret/:key', limited, askReader(pages.secrets))
  const sameSite: Step = (ctx, next) => {
    refuseCrossSite(ctx.req.headers, { ...pages.sites, allowed: new Set() })
    return next()
  }
  reader.post('/secret/:key', sameSite, limited, showSecret(pages.secrets))
  const sender = new Router<RequestState>()
  sender.get('/private/:key', limited, showReceipt(pages))
  sender.get('/private/:key/burn', limited, showReceipt(pages))
  sender.post('/private/:key/burn', sameSite, limited, burnByPage(pages))
  return [
    { prefix: '/secret', router: reader, errorBody: errorPage },
    { prefix: '/private', router: sender, errorBody: errorPage },
  ]
}

/** Of a secret that is not there it does not say whether it ever was: that would tell strangers. */
const errorPage: ErrorBody = (ctx, { status, faults }) => {
  if (status === 404) return sendPage(ctx, { status, ...GONE })
  const content = html`<p>${faults.map(({ message }) => message).join('. ')}.</p>
    <p class="soft">Nothing was shown or deleted by this. Request ${ctx.state.requestId}</p>`
  sendPage(ctx, { status, title: TITLES[status] ?? 'That did not work', content })
}

const GONE = {
  title: 'There is no secret here',
  content: html`<p>
      It may have been read already, been burned by its sender, or expired; or the link is not complete. This page does
      not tell anybody which.
    </p>
    <p>
      If you were expecting a secret, ask its sender for a new one. If it was meant for you alone and you have not read
      it, tell the sender: somebody else may have.
    </p>`,
}

const TITLES: Readonly<Record<number, string>> = {
  403: 'This page is only for its own forms',
  405: 'This page is only for reading',
  429: 'Too many attempts',
  503: 'This is not available at the moment',
}
