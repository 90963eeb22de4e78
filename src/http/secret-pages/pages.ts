import type { Secrets } from '../../commands/secrets/secrets.ts'
import { refuseCrossSite, type Sites } from '../kit/cross-site.ts'
import type { Family, Who } from '../kit/endpoint.ts'
import { html } from '../kit/html.ts'
import { countAddress, type RateLimit } from '../secrets/rate-limit.ts'
import { pageAnswer } from './layout.ts'

/** What the pages of secrets answer from. */
export type SecretPageServices = {
  readonly secretPages: {
    readonly secrets: Secrets
    readonly rateLimit: RateLimit
    /** Where links start, such as https://secrets.example.com. */
    readonly address: string
    /** Addresses that are this service's own: only their pages may post here. */
    readonly own: Sites['own']
  }
}

export const PAGE = { about: 'The page', media: 'text/html' }

/** Whoever has the link, as often as RATE_LIMIT allows. */
export const visitor: Who<undefined, SecretPageServices> = {
  scheme: 'none',
  refuses: [429],
  admit({ address }, { secretPages: { rateLimit } }) {
    countAddress(rateLimit, address)
    return undefined
  },
}

/** Who has pressed a button of these pages: a page of another site could send the same form. */
export const formSender: Who<undefined, SecretPageServices> = {
  scheme: 'none',
  refuses: [403, 429],
  admit(asked, services) {
    refuseCrossSite(asked.headers, { own: services.secretPages.own, allowed: new Set() })
    return visitor.admit(asked, services)
  },
}

/** Refusals are pages too. Of a secret that is not there none says whether it ever was: that would tell strangers. */
export const secretPageFamily: Family = {
  name: 'secret pages',
  prefixes: ['/secret', '/private'],
  refusals: { media: 'text/html' },
  refusal({ status, faults }, _error, { requestId }) {
    if (status === 404) return pageAnswer({ status, ...GONE })
    const content = html`<p>${faults.map(({ message }) => message).join('. ')}.</p>
      <p class="soft">Nothing was shown or deleted by this. Request ${requestId}</p>`
    return pageAnswer({ status, title: TITLES[status] ?? 'That did not work', content })
  },
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
