import { Router } from '@koa/router'
import { pageRevision } from '../../domain/diamond/access.ts'
import type { Lighting } from '../../domain/scoring/picture/lighting.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { DiamondQueries } from '../../projections/diamonds/diamond-queries.ts'
import type { DiamondView } from '../../projections/diamonds/diamonds.ts'
import type { Resource } from '../kit/app.ts'
import { isNotModified } from '../diamonds/conditions.ts'
import { staleHeaders } from '../kit/consistency.ts'
import type { ErrorBody } from '../kit/errors.ts'
import { html, NOTHING } from '../kit/html.ts'
import type { Links } from '../kit/links.ts'
import { signatureOf, type Ctx, type RequestState } from '../kit/request.ts'
import { sendPage } from './layout.ts'
import { reportOf } from './page.ts'
import { shownCut, type Pictures } from './pictures.ts'

export type ReportService = {
  readonly queries: DiamondQueries
  readonly links: Links
  readonly pictures: Pictures
}

/**
 * A diamond's report page and its pictures. Restricted ones open by the signature in their owner's link; without it they
 * are as unknown as ones that don't exist.
 */
export function reportResource(service: ReportService): Resource {
  const router = new Router<RequestState>()
  router.get('/diamond/:id', async (ctx: Ctx) => {
    const { view, signature } = await opened(ctx, service)
    sendPage(ctx, reportOf(view, service.links, signature))
  })
  router.get('/diamond/:id/face-up.png', (ctx: Ctx) => sendPicture(ctx, service, 'face-up'))
  router.get('/diamond/:id/aset.png', (ctx: Ctx) => sendPicture(ctx, service, 'aset'))
  return { prefix: '/diamond', router, errorBody: errorPage }
}

type Opened = { readonly view: DiamondView; readonly signature: string }

/** @throws Refusal missing */
async function opened(ctx: Ctx, { queries, links }: ReportService): Promise<Opened> {
  const text = String(ctx.params['id'])
  const { view, age } = /^[1-9]\d{0,15}$/.test(text) ? await queries.page(Number(text)) : UNKNOWN_VIEW
  ctx.set(staleHeaders(age))
  if (view === undefined) throw unknownDiamond()
  const given = signatureOf(ctx)
  const opened = links.opened(`/diamond/${text}`, given)
  const isOpened = opened !== undefined && opened.revision === pageRevision(view.diamond)
  if (view.diamond.fields.access === 0 && !isOpened) throw unknownDiamond()
  return { view, signature: isOpened ? given : '' }
}

const UNKNOWN_VIEW = { view: undefined, age: undefined }

const unknownDiamond = () => new Refusal('missing', 'There is no such diamond')

async function sendPicture(ctx: Ctx, service: ReportService, lighting: Lighting): Promise<void> {
  const { view } = await opened(ctx, service)
  const cut = shownCut(view.diamond)
  const picture = cut === null ? undefined : service.pictures.of(cut, lighting)
  if (picture === undefined) throw noPicture()
  if (isNotModified(ctx.req.headers['if-none-match'], picture.etag)) ctx.status = 304
  else await sendBytes(ctx, await picture.png())
  ctx.set({
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    // Asked again each time: a diamond that is restricted now is not shown from caches.
    'Cache-Control': view.diamond.fields.access === 2 ? 'public, no-cache' : 'private, no-cache',
    ...(view.diamond.fields.access !== 2 && { 'X-Robots-Tag': 'noindex' }),
    ETag: picture.etag,
  })
}

async function sendBytes(ctx: Ctx, png: Uint8Array | undefined): Promise<void> {
  if (png === undefined) throw noPicture()
  ctx.status = 200
  ctx.body = Buffer.from(png.buffer, png.byteOffset, png.byteLength)
  ctx.type = 'image/png'
}

const noPicture = () => new Refusal('missing', 'There is no picture of this diamond')

const errorPage: ErrorBody = (ctx, { status, faults }) => {
  const title = faults.map((fault) => fault.message).join('. ')
  const content = html`<h1>${title}</h1>
    ${status === 404 ? UNKNOWN : NOTHING}
    <p class="soft">Request ${ctx.state.requestId}</p>`
  sendPage(ctx, { status, title, content, head: NOTHING, isPublic: false })
}

const UNKNOWN = html`<p>
  It may not exist, or its owner does not show it to everybody. If you have a link from its owner, check that it is
  complete.
</p>`
