import { Router } from '@koa/router'
import { Refusal } from '../domain/refusal.ts'
import type { DiamondQueries } from '../projections/diamond-queries.ts'
import type { Resource } from './app.ts'
import type { ErrorBody } from './errors.ts'
import type { Links } from './links.ts'
import type { Ctx, RequestState } from './request.ts'

/** What the plain page shows of a diamond, in the names of its v4 object. */
const SHOWN = [
  'sku',
  'cutShape',
  'carat',
  'color',
  'clarity',
  'cutQuality',
  'polish',
  'symmetry',
  'fluorIntensity',
] as const

/**
 * The platform's page for a diamond. Restricted ones open by the signature in their owner's link; without it they are
 * as unknown as ones that don't exist.
 */
export function diamondPageResource(queries: DiamondQueries, links: Links): Resource {
  const router = new Router<RequestState>()
  router.get('/diamond/:id', async (ctx: Ctx) => {
    const text = String(ctx.params['id'])
    const answer = /^[1-9]\d{0,15}$/.test(text) ? await queries.one('v4', Number(text)) : undefined
    const diamond = answer && (JSON.parse(links.finish(answer.body)) as Record<string, unknown>)
    if (diamond === undefined || !mayOpen(ctx, diamond, links)) throw new Refusal('missing', 'There is no such diamond')
    sendPage(ctx, 200, `Diamond ${text}`, table(diamond), diamond['access'] === 2)
  })
  return { prefix: '/diamond', router, errorBody: errorPage }
}

function mayOpen(ctx: Ctx, diamond: Record<string, unknown>, links: Links): boolean {
  const given = ctx.query['signature']
  return diamond['access'] !== 0 || (typeof given === 'string' && links.opens(ctx.path, given))
}

const errorPage: ErrorBody = (ctx, { status, faults }) => {
  const text = faults.map((fault) => fault.message).join('. ')
  sendPage(ctx, status, text, `<p>Request ${escape(ctx.state.requestId)}</p>`, false)
}

/** No outside resource, no script; only a public diamond's page may be found by search engines. */
function sendPage(ctx: Ctx, status: number, title: string, content: string, indexed: boolean): void {
  ctx.status = status
  ctx.set({
    'Content-Security-Policy':
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    ...(!indexed && { 'X-Robots-Tag': 'noindex' }),
  })
  ctx.type = 'text/html; charset=utf-8'
  ctx.body =
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title>` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    '<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem}' +
    'th{text-align:left;padding-right:2rem;font-weight:600}td,th{padding-block:.2rem}</style></head>' +
    `<body><main><h1>${escape(title)}</h1>${content}</main></body></html>`
}

function table(diamond: Record<string, unknown>): string {
  const rows = SHOWN.filter((name) => diamond[name] !== null).map(
    (name) => `<tr><th scope="row">${LABELS[name]}</th><td>${escape(String(diamond[name]))}</td></tr>`,
  )
  return `<table>${rows.join('')}</table>`
}

const LABELS: Readonly<Record<(typeof SHOWN)[number], string>> = {
  sku: 'SKU',
  cutShape: 'Shape',
  carat: 'Carat',
  color: 'Colour',
  clarity: 'Clarity',
  cutQuality: 'Cut',
  polish: 'Polish',
  symmetry: 'Symmetry',
  fluorIntensity: 'Fluorescence',
}

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
