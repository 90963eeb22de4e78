import type { HttpResponse, ResponseHeaders } from '../kit/response.ts'
import type { EndpointGroup } from '../kit/endpoint.ts'
import { escape, html, type Html } from '../kit/html.ts'
import { GEM, htmlDocument, sourceHash } from '../kit/page.ts'
import { STYLE as SECRETS_STYLE } from '../secret-pages/layout.ts'

type InventoryPage = {
  readonly status: number
  readonly title: string
  readonly content: Html
  /** Uses the full width, for lists. */
  readonly isWide?: true
}

export const inventoryPageResponse = (
  { status, title, content, isWide }: InventoryPage,
  headers: ResponseHeaders = {},
): HttpResponse => ({
  status,
  headers: { ...headers, ...HEADERS },
  body: htmlDocument({
    title,
    style: STYLE,
    body: `<main${isWide === true ? ' class="wide"' : ''}>\n${GEM}\n<h1>${escape(title)}</h1>\n${content.html}\n</main>\n`,
  }),
})

/** The styles of the secret pages, with additions for the list and its filters. */
const STYLE = `${SECRETS_STYLE}
main{min-width:0}
main.wide{max-width:80rem}
a{color:var(--deed)}
form>div{margin-bottom:1rem}
.log-out{float:right;margin:-3.25rem 0 0}
.log-out button{margin:0;min-height:2.5rem;padding:.375rem 1rem;width:auto}
select{width:100%;padding:.75rem;font:inherit;color:inherit;background:var(--well);border:1px solid var(--soft);border-radius:.5rem}
.filters{padding:1rem;background:var(--well);border:1px solid var(--line);border-radius:.75rem}
.filters input,.filters select{padding:.5rem .625rem;background:var(--paper)}
.fields{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,13rem),1fr));gap:.875rem 1.25rem;align-items:end}
fieldset{min-width:0;margin:0;padding:0;border:0}
legend{padding:0;margin-bottom:.25rem;font-weight:600}
.range{display:grid;grid-template-columns:minmax(0,1fr) auto minmax(0,1fr);gap:.5rem;align-items:center}
fieldset:has([type=date]){grid-column:span 2}
[role=status]{margin:1rem 0 0}
.filters details{margin-top:1rem;border:0}
.filters summary{padding:.5rem 0;color:var(--deed)}
.choices{display:flex;flex-wrap:wrap;gap:.375rem;margin-bottom:1rem}
.choices label{display:flex;align-items:center;gap:.375rem;margin:0;padding:.25rem .625rem;font-weight:400;background:var(--paper);border:1px solid var(--line);border-radius:.5rem}
.choices input{width:1rem;height:1rem;margin:0;accent-color:var(--deed)}
.deeds{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center;margin-top:1rem}
.deeds button{margin:0}
table{width:100%;margin:1rem 0;border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.5rem .625rem;text-align:left;border-bottom:1px solid var(--line)}
thead th{color:var(--soft);font-size:.9375rem;font-weight:400}
tbody th{min-width:7rem;font-weight:600;overflow-wrap:anywhere}
.number{text-align:right}
.pages{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;margin:0;padding:0;list-style:none}
.pages a{display:inline-block;padding:.5rem 0}
@media (max-width:60rem){
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table,tbody,tr,th,td{display:block}
tbody{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,18rem),1fr));gap:1rem}
tr{padding:.75rem 1rem;border:1px solid var(--line);border-radius:.75rem}
th,td,.number{padding:.25rem 0;border:0;text-align:right}
tbody th{text-align:left;font-size:1.125rem}
td{display:flex;justify-content:space-between;gap:1rem;overflow-wrap:anywhere}
td::before{content:attr(data-label);color:var(--soft);text-align:left}
}
@media (max-width:38rem){
fieldset:has([type=date]){grid-column:auto}
.range:has([type=date]){grid-template-columns:minmax(0,1fr);gap:.25rem}
}
@media (max-width:26rem){.log-out{float:none;margin:0 0 1rem}.deeds button{width:100%}}
`

const POLICY = [
  "default-src 'none'",
  `style-src ${sourceHash(STYLE)}`,
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The pages must not be cached, framed, indexed or sent as a referrer. */
const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex, nofollow',
}

/** An error message that screen readers announce immediately. */
export const alert = (message: string): Html => html`<p class="alert" role="alert">${message}</p>`

export const inventoryPagesGroup: EndpointGroup = {
  name: 'inventory pages',
  pathPrefixes: ['/inventory'],
  errorFormat: { mediaType: 'text/html' },
  errorResponse({ status, faults }, _error, { requestId }) {
    const content = html`<p>${faults.map(({ message }) => message).join('. ')}.</p>
      <p class="soft">Request ID: ${requestId}</p>`
    return inventoryPageResponse({ status, title: TITLES[status] ?? 'Request failed', content })
  },
}

const TITLES: Readonly<Record<number, string>> = {
  403: 'Request rejected',
  404: 'Page not found',
  429: 'Too many attempts',
  503: 'Temporarily unavailable',
}
