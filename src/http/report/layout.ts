import type { EndpointGroup } from '../kit/endpoint.ts'
import { CARD, DARK, definePages, errorPages, type Page, type PageLayout } from '../kit/page.ts'
import type { HttpResponse, ResponseHeaders } from '../kit/response.ts'
import type { AllowedOrigins } from '../middleware/cors.ts'

export type ReportPage = Page & {
  /** Public pages may be indexed by search engines. */
  readonly isPublic: boolean
  /** The page contains data for the owner only, so it must not be cached. */
  readonly isOwnerView?: true
}

type ReportResponder = (page: ReportPage, headers?: ResponseHeaders) => HttpResponse

function defineReportPages({ style, policy, ...layout }: PageLayout): ReportResponder {
  const respond = definePages({ ...layout, style: STYLE + style, policy: { 'img-src': "'self' data:", ...policy } })
  return (page, headers) =>
    respond(page, {
      ...headers,
      'Cache-Control': cachingOf(page),
      ...(!page.isPublic && { 'X-Robots-Tag': 'noindex' }),
    })
}

const STYLE = `${CARD}
:root{--width:56rem;--s1:#d8dee9;--s2:#c3cee2;--s3:#a5b8dc;--s4:#7f9bd6;--s5:#557ccf;--s6:#2f5bbd}
${DARK}{:root{--s1:#2a3347;--s2:#2e3d5c;--s3:#344a78;--s4:#3b5996;--s5:#476cb8;--s6:#5b84dc}}
h1{margin-bottom:.375rem;font-size:clamp(1.75rem,6vw,2.5rem);line-height:1.15}
h3{display:flex;justify-content:space-between;gap:1rem;margin:0 0 .25rem;font-size:1.0625rem}
figcaption{color:var(--soft);font-size:var(--small)}
.value{font-variant-numeric:tabular-nums}
small{font-weight:400;color:var(--soft)}
.pictures{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:1rem;margin:1.5rem 0 0}
figure{margin:0;padding:1.25rem;text-align:center;background:var(--well);border:1px solid var(--line);border-radius:.75rem}
figure img{display:block;max-width:100%;height:15rem;margin:0 auto .75rem;object-fit:contain}
.drawn{display:flex;flex-wrap:wrap;align-content:flex-start;min-height:15rem;margin-bottom:.75rem;overflow:hidden;color:inherit;cursor:zoom-in}
.drawn img{margin:0 auto}
.drawing{flex:0 0 100%;height:0;line-height:15rem;font-size:.875rem;color:var(--soft)}
.rocked{grid-column:1/-1}
.rocked .drawn{min-height:5rem}
.rocked .drawing{line-height:5rem}
.rocked img{height:auto;max-height:12rem}
.basis{display:inline-block;padding:0 .6em;border:1px solid var(--soft);border-radius:1em;font-size:.875rem;color:var(--ink)}
.basis::before{content:"";display:inline-block;width:.55em;height:.55em;margin-right:.45em;border:1.5px solid currentColor;border-radius:50%}
.basis.typical{border-style:dashed}
.basis.own{border-width:2px;border-color:var(--ink);font-weight:600}
.basis.own::before{background:currentColor}
.basis.stated{border-color:var(--ink)}
.basis.stated::before{background:linear-gradient(90deg,currentColor 50%,transparent 50%)}
.typical>.scale .mark{stroke-dasharray:4 3;fill-opacity:.08}
figure.profile{margin:0 0 1rem}
.profile svg{display:block;width:100%;max-width:26rem;height:auto;margin:0 auto .5rem}
.profile text{font-size:12px;fill:var(--ink)}
.profile .stone{fill:none;stroke:var(--ink);stroke-width:1.5;stroke-linejoin:round}
.profile .line{stroke:var(--soft);stroke-width:1}
footer{display:flex;flex-wrap:wrap;gap:.75rem 1.5rem;margin-top:2.25rem;padding-top:.75rem;border-top:1px solid var(--line)}
footer div{flex:1 1 16rem}
footer p,.address{margin:0;overflow-wrap:anywhere}
.qr{flex:none;width:7.5rem;height:7.5rem}
.scores{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1.25rem 2.5rem}
.scale{display:block;width:100%;max-width:28rem;height:auto;margin-bottom:.375rem}
.scale text{font-size:11px;text-anchor:middle;fill:var(--soft)}
.scale .touched{font-weight:700;fill:var(--ink)}
.grade-P{fill:var(--s1)}.grade-F{fill:var(--s2)}.grade-G{fill:var(--s3)}.grade-VG{fill:var(--s4)}.grade-EX{fill:var(--s5)}.grade-OU{fill:var(--s6)}
.mark{fill:var(--ink);fill-opacity:.22;stroke:var(--ink);stroke-width:2}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,13rem),1fr));gap:0 2rem;margin:0}
dl div{display:flex;justify-content:space-between;gap:1rem;padding:.4rem 0;border-bottom:1px solid var(--line)}
dl+p{margin-top:1.25rem}
dd{font-weight:600;text-align:right}
ul{margin:0;padding-left:1.25rem}
li a{margin-right:1rem}
.past{list-style:none;padding:0}
.past>li{padding:.5rem 0 .25rem 1rem;border-left:3px solid var(--line)}
.past p{margin:0}
.past time{color:var(--soft);font-variant-numeric:tabular-nums}
.past ul{overflow-wrap:anywhere}
.warning{display:block}
@media (max-width:40rem){.pictures{grid-template-columns:minmax(0,1fr)}}
@media print{*{print-color-adjust:exact;-webkit-print-color-adjust:exact}section,figure,footer{break-inside:avoid}.qr{width:28mm;height:28mm}figure{padding:.75rem}figure img{height:9rem}.pictures{grid-template-columns:1fr 1fr 1.7fr}.rocked{grid-column:auto}.drawn{min-height:0}.drawing{display:none}h2{margin-top:1.25rem}}
`

export const reportPageResponse = defineReportPages({ style: '' })

/** The size of a widget in CSS pixels: what fits in it has no scroll bars. */
export const WIDGET_SIZE = { width: 480, height: 640 } as const

const WIDGET = `
body{display:block;padding:0;background:var(--paper);font-size:.9375rem;line-height:1.35}
body>header{display:none}
main{padding:.75rem 1rem;border:0;border-radius:0;box-shadow:none}
h1{margin:0;font-size:1.1875rem;overflow-wrap:anywhere}
h2{margin:.625rem 0 .25rem;font-size:1rem}
main>p{margin:0 0 .5rem;font-size:.875rem}
.overview{display:grid;grid-template-columns:12.5rem minmax(0,1fr);gap:1rem;align-items:start}
figure{padding:.5rem}
figure img{height:10.5rem;margin-bottom:.25rem}
.basis{font-size:.75rem}
dl{display:block;font-size:.8125rem}
dl div{gap:.5rem;padding:.0625rem 0}
.overview dd{overflow-wrap:normal}
.overview p{margin:0 0 .125rem}
.overview dl+p{margin-top:.375rem}
.scores{gap:.5rem;grid-template-columns:minmax(0,1fr)}
.scores section{display:grid;grid-template-columns:12.5rem minmax(0,1fr);gap:0 1rem;align-items:center}
.scores h3{grid-column:1;gap:.5rem;margin:0;font-size:.8125rem}
.scores p{grid-column:1;margin:0;font-size:.75rem}
.scores p:last-child{display:none}
.scale{grid-area:1/2/3/3;margin:0}
.scale text{font-size:13px}
footer{margin-top:.5rem;padding-top:.375rem}
@media (max-width:26rem){.overview,.scores section{grid-template-columns:minmax(0,1fr)}.scale{grid-area:auto}}
`

/** @param embedOrigins of the sites that may show the widget in a frame */
export const defineWidget = (embedOrigins: AllowedOrigins): ReportResponder =>
  defineReportPages({
    style: WIDGET,
    policy: { 'frame-ancestors': embedOrigins === '*' ? '*' : [...embedOrigins].join(' ') || "'none'" },
    isAlwaysLight: true,
  })

/** Pages with signed links are not cached. Other pages must be revalidated, because access may be withdrawn. */
function cachingOf({ content: { html: text }, isPublic, isOwnerView }: ReportPage): string {
  if (isOwnerView === true || text.includes('signature=')) return 'no-store'
  return isPublic ? 'public, no-cache' : 'private, no-cache'
}

export const reportPagesGroup: EndpointGroup = {
  tag: 'Report pages',
  pathPrefixes: ['/diamond'],
  ...errorPages(
    (page) => reportPageResponse({ ...page, isPublic: false }),
    (status) => (status === 404 ? UNKNOWN : ''),
  ),
}

const UNKNOWN =
  'The diamond does not exist or is not public. If you have a link from its owner, check that the link is complete.'
