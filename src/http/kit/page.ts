import { createHash } from 'node:crypto'
import type { ErrorDetail } from '../../domain/request-error.ts'
import type { EndpointGroup } from './endpoint.ts'
import { html, NOTHING, type Html } from './html.ts'
import type { HttpResponse, ResponseHeaders } from './response.ts'

export type Page = {
  readonly status: number
  /** Also the heading. */
  readonly title: string
  readonly content: Html
  /** Tags for the head, such as a social preview's. */
  readonly head?: Html
  /** The result of `pathToRoot`, for the way home in the header. Absent on the front page. */
  readonly home?: string
  /** For a page that cannot be loaded again. */
  readonly opensHomeInNewTab?: true
  /** Links and buttons beside the way home. */
  readonly actions?: Html
}

export type PageLayout = {
  /** Follows the tokens: the layout's own rules, after `CARD` and `CONTROLS` if it uses them. */
  readonly style: string
  /** Sources by directive that its pages need in addition to the style sheet and inline images. */
  readonly policy?: Readonly<Record<string, string>>
  readonly headers?: ResponseHeaders
  /** For pages that other sites show in a frame: a dark one in a light site would be a hole. */
  readonly isAlwaysLight?: true
}

/** The query before dark colours, in the tokens and in layouts. */
export const DARK = '@media screen and (prefers-color-scheme:dark)'

type PageResponder = (page: Page, headers?: ResponseHeaders) => HttpResponse

/** Defines pages with a common style sheet, policy and headers. */
export function definePages({ style, policy = {}, headers: layoutHeaders, isAlwaysLight }: PageLayout): PageResponder {
  const adaptive = TOKENS + style
  const styleSheet = isAlwaysLight
    ? `${adaptive.replaceAll(DARK, '@media not all')}:root{color-scheme:light}`
    : adaptive
  const fixedHeaders = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': securityPolicy(styleSheet, policy),
    'Referrer-Policy': 'no-referrer',
    ...layoutHeaders,
  }
  return (page, headers) => ({
    status: page.status,
    headers: { ...headers, ...fixedHeaders },
    body: documentOf(page, styleSheet),
  })
}

function securityPolicy(styleSheet: string, { 'style-src': styleSources = '', ...sources }: Record<string, string>) {
  const directives = {
    'default-src': "'none'",
    'style-src': `${styleSources} ${sourceHash(styleSheet)}`.trimStart(),
    'img-src': 'data:',
    'form-action': "'none'",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
    ...sources,
  }
  return Object.entries(directives)
    .map((directive) => directive.join(' '))
    .join('; ')
}

/** The Content-Security-Policy source for one inline style or script. */
export const sourceHash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** The empty icon prevents a request for one. */
const documentOf = (page: Page, styleSheet: string): string => {
  const { title, content, head = NOTHING, actions = NOTHING } = page
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <link rel="icon" href="data:," />
        <title>${title}</title>
        ${head} ${{ html: `<style>${styleSheet}</style>` }}
      </head>
      <body>
        <header>${wayHome(page)} ${actions}</header>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `.html
}

function wayHome({ home, opensHomeInNewTab }: Page): Html {
  if (home === undefined) return GEM
  const target: Html = opensHomeInNewTab ? { html: 'target="_blank"' } : NOTHING
  return html`<a class="home" href="${home || './'}" ${target}>${GEM} Adamant</a>`
}

/** The service's sign. @param attributes of its `svg` element */
export const gem = (attributes: string): string =>
  `<svg ${attributes} viewBox="0 0 24 24" fill="none" stroke-width="1.5" stroke-linejoin="round">` +
  '<path d="M7 4h10l4.5 5.5L12 21 2.5 9.5 7 4Z"/><path d="M2.5 9.5h19M12 21 8.5 9.5 12 4l3.5 5.5L12 21Z"/></svg>'

const GEM: Html = { html: gem('stroke="currentColor" aria-hidden="true"') }

/** Colours (dark ones on screens only), type and corners of all pages, and the header. */
const TOKENS = `
:root{color-scheme:light dark;--ink:#17202e;--soft:#55617a;--paper:#fff;--ground:#eef1f7;--line:#d5dbe7;--deed:#1d4ed8;--deed-ink:#fff;--danger:#b42318;--well:#f5f7fb;--radius:.5rem;--small:.9375rem;--sans:system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;--mono:ui-monospace,"Cascadia Mono",Menlo,Consolas,monospace}
${DARK}{:root{--ink:#e8ecf4;--soft:#a7b2c8;--paper:#171e2b;--ground:#0d121b;--line:#364159;--deed:#8cb0ff;--deed-ink:#0b1530;--danger:#ff9d92;--well:#0f1521}}
@media print{:root{font-size:9.4pt;color-scheme:light;--ink:#000;--soft:#444;--ground:#fff}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:1.0625rem/1.55 var(--sans)}
body>header{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:center;gap:.5rem 1.5rem;min-height:2.5rem;color:var(--deed)}
body>header svg{display:block;width:2.25rem;height:2.25rem}
.home{display:flex;align-items:center;gap:.5rem;color:inherit;font-weight:600;text-decoration:none}
:focus-visible{outline:3px solid var(--deed);outline-offset:2px}
@media print{body>header{display:none}}
`

/** A card with text. Its width is `--width` of the body. */
export const CARD = `
body{display:grid;grid-template-columns:minmax(0,var(--width,36rem));justify-content:center;gap:.75rem;padding:clamp(.75rem,3vh,2rem) clamp(.625rem,3vw,1rem) clamp(1rem,6vh,4rem)}
main{padding:clamp(1.25rem,5vw,2.5rem);background:var(--paper);border:1px solid var(--line);border-radius:1rem;box-shadow:0 1px 2px rgb(16 24 40/.06),0 12px 32px rgb(16 24 40/.07)}
h1{margin:0 0 .75rem;font-size:1.625rem;line-height:1.25;letter-spacing:-.01em;text-wrap:balance}
h2{margin:2rem 0 .5rem;font-size:1.25rem}
p{margin:0 0 1rem}
main>p:last-child{margin-bottom:0}
a{color:var(--deed)}
time{white-space:nowrap}
.soft{color:var(--soft);font-size:var(--small)}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
@media print{body{display:block;padding:0}main{padding:0;border:0;box-shadow:none}}
`

/** Inputs, buttons and messages of forms. */
export const CONTROLS = `
form>div{margin-bottom:1rem}
label{display:block;margin-bottom:.25rem;font-weight:600}
input,select,textarea{width:100%;padding:.75rem;font:inherit;color:inherit;background:var(--well);border:1px solid var(--soft);border-radius:var(--radius)}
textarea{min-height:7rem;resize:vertical}
button,summary{font:inherit;font-weight:600;cursor:pointer}
button{min-height:3rem;margin:1rem 0;padding:.625rem 1.25rem;color:var(--deed-ink);background:var(--deed);border:0;border-radius:var(--radius)}
button.quiet{color:var(--deed);background:none;border:1px solid currentColor}
button.danger{color:var(--danger);background:none;border:1px solid currentColor}
header button{min-height:2.5rem;margin:0;padding:.375rem 1rem}
summary{padding:.75rem 0;color:var(--deed)}
.alert{padding:.75rem 1rem;color:var(--danger);border:1px solid currentColor;border-radius:var(--radius)}
@media (max-width:26rem){main button{width:100%}}
`

/** For pages that must not be cached, framed or indexed. */
export const PRIVATE_PAGE_HEADERS = {
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex, nofollow',
}

/** An error message that screen readers announce immediately. */
export const alert = (message: string): Html => html`<p class="alert" role="alert">${message}</p>`

/** A time in UTC, so that all readers see the same. @param ms milliseconds since 1970 */
export function timeOf(ms: number): Html {
  const iso = new Date(ms).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`
}

/** The errors of an endpoint group as pages. @param noteOf what an error of the status means for the reader */
export const errorPages = (
  respond: PageResponder,
  noteOf: (status: number) => string = () => '',
): Pick<EndpointGroup, 'errorFormat' | 'errorResponse'> => ({
  errorFormat: { mediaType: 'text/html' },
  errorResponse: ({ status, faults }, _error, { requestId, target, form }) =>
    respond({
      status,
      title: ERROR_TITLES[status] ?? 'Request failed',
      home: pathToRoot(target),
      content: html`${form === undefined ? html`<p>${errorText(faults)}</p>` : alert(errorText(faults))}
        ${noteOf(status) === '' ? NOTHING : html`<p>${noteOf(status)}</p>`} ${form ?? NOTHING}
        <p class="soft">Request ID: ${requestId}</p>`,
    }),
})

const ERROR_TITLES: Readonly<Record<number, string>> = {
  401: 'Not authorized',
  403: 'Request rejected',
  404: 'Page not found',
  405: 'Method not allowed',
  410: 'No longer available',
  429: 'Too many attempts',
  503: 'Temporarily unavailable',
}

export const errorText = (faults: readonly ErrorDetail[]): string =>
  `${faults.map(({ message }) => message).join('. ')}.`

/**
 * The relative path of the front page: `../` for each folder that a browser sees in the request target. The service ignores
 * trailing slashes, but a browser takes each as a folder. Relative, because a proxy may add a path prefix.
 */
export function pathToRoot(target: string): string {
  const [path = ''] = target.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)
  return '../'.repeat(path.slice(1).split('/').length - 1)
}

/** The errors of endpoints for programs, for a person who opened their address in a browser. */
export const browserErrorPages = errorPages(definePages({ style: CARD, headers: PRIVATE_PAGE_HEADERS }))
