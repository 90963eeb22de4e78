import type { EndpointGroup } from '../kit/endpoint.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import { CARD, CONTROLS, definePages, errorPages, pathToRoot, PRIVATE_PAGE_HEADERS } from '../kit/page.ts'
import type { HttpResponse } from '../kit/response.ts'

/** Pages with more styles. @param policy further sources, by directive */
export const defineInventoryPages = (style: string, policy: Readonly<Record<string, string>> = {}) =>
  definePages({
    style: CARD + CONTROLS + style,
    policy: { 'form-action': "'self'", ...policy },
    headers: PRIVATE_PAGE_HEADERS,
  })

/** The header's links, labels around their fields, and boxes of choices before their texts. */
export const FORMS = `
header nav{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:center}
label>input,label>select{margin:.25rem 0 .75rem;font-weight:400}
label.check{display:flex;gap:.625rem;align-items:baseline;padding:.25rem 0;font-weight:400}
label.check input{flex:none;width:1.125rem;height:1.125rem;margin:0;padding:0;accent-color:var(--deed)}
`

/** A card with forms. */
export const formPage = defineInventoryPages(FORMS)

/** Forms in columns, and tables, which are cards on small screens. */
export const WIDE = `
body{--width:80rem}
.filters{padding:1rem;background:var(--well);border:1px solid var(--line);border-radius:.75rem}
.filters input,.filters select{padding:.5rem .625rem;background:var(--paper)}
.fields{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,13rem),1fr));gap:.875rem 1.25rem;align-items:end}
fieldset{min-width:0;margin:0;padding:0;border:0}
legend{padding:0;margin-bottom:.25rem;font-weight:600}
.range{display:grid;grid-template-columns:minmax(0,1fr) auto minmax(0,1fr);gap:.5rem;align-items:center}
fieldset:has([type=date]){grid-column:span 2}
[role=status]{margin:1rem 0 0}
.filters details{margin-top:1rem;border:0}
.filters summary{padding:.5rem 0}
.choices{display:flex;flex-wrap:wrap;gap:.375rem;margin-bottom:1rem}
.choices label{display:flex;align-items:center;gap:.375rem;margin:0;padding:.25rem .625rem;font-weight:400;background:var(--paper);border:1px solid var(--line);border-radius:var(--radius)}
.choices input{width:1rem;height:1rem;margin:0;accent-color:var(--deed)}
.deeds{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center;margin-top:1rem}
.deeds button{margin:0}
table{width:100%;margin:1rem 0;border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.5rem .625rem;text-align:left;border-bottom:1px solid var(--line)}
thead th{color:var(--soft);font-size:var(--small);font-weight:400}
tbody th{min-width:7rem;font-weight:600;overflow-wrap:anywhere}
.number{text-align:right}
[popover]{width:min(30rem,calc(100vw - 2rem));max-height:calc(100vh - 2rem);overflow:auto;padding:1.25rem;color:inherit;text-align:left;white-space:normal;background:var(--paper);border:1px solid var(--line);border-radius:1rem}
[popover] h2{margin:0 0 .5rem;overflow-wrap:anywhere}
[popover]::backdrop{background:rgb(10 15 25/.4)}
[popovertarget]{min-height:2.25rem;margin:0;padding:.25rem .75rem}
.links{display:flex;gap:1.5rem}
.pages{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;margin:0;padding:0;list-style:none}
.pages a{display:inline-block;padding:.5rem 0}
@media screen and (max-width:60rem){
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table,tbody,tr,th,td{display:block}
tbody{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,18rem),1fr));gap:1rem}
tr{padding:.75rem 1rem;border:1px solid var(--line);border-radius:.75rem}
th,td,.number{padding:.25rem 0;border:0;text-align:right}
tbody th{text-align:left;font-size:1.125rem}
td{display:flex;justify-content:space-between;gap:1rem;overflow-wrap:anywhere}
td::before{content:attr(data-label);flex:none;max-width:50%;color:var(--soft);text-align:left}
td select{min-width:0}
}
@media (max-width:38rem){
fieldset:has([type=date]){grid-column:auto}
.range:has([type=date]){grid-template-columns:minmax(0,1fr);gap:.25rem}
}
`

/** Each stone in a line; on small screens in three, without the names of the columns. Print is the table alone. */
const STONES = `
.stones th,.stones td{padding:.375rem .375rem;font-size:var(--small);white-space:nowrap}
.stones th>span,.stones td>span{display:inline-block;max-width:10rem;overflow:hidden;text-overflow:ellipsis;vertical-align:bottom}
.stones abbr{text-decoration:none}
@media screen and (max-width:60rem){
.stones tr{display:flex;flex-wrap:wrap;gap:0 .625rem;align-items:baseline;padding:.375rem .75rem}
.stones td,.stones tbody th{padding:0;font-size:.875rem;line-height:1.4}
.stones [popovertarget]{min-height:1.75rem;padding:0 .625rem}
.stones tbody th{flex:1 1 55%;min-width:0;font-size:1rem}
.stones tbody th>span{max-width:100%}
.stones td::before{content:none}
.stones td[data-label=Price]{order:-1;flex:none;font-size:1rem;font-weight:600}
.stones tbody th{order:-2}
.stones td[data-label=Score]::before{content:"Score"}
.stones td[data-label=Score]{gap:.25rem}
.stones td[data-label=Created]{display:none}
.stones td[data-label=Menu]{margin-left:auto}
}
@media print{
main>:not(.stones),.stones [data-label=Menu],.stones th:last-child{display:none}
.stones th,.stones td{padding:1mm 1.5mm;font-size:8pt}
.stones tr{break-inside:avoid}
}
`

/** The list and its filters. */
export const widePage = defineInventoryPages(FORMS + WIDE + STONES)

type LogInPage = {
  readonly status: number
  /** Of the request. */
  readonly target: string
  /** The page to which the log-in leads; by default the requested one. */
  readonly page?: string
  readonly errorMessage?: Html
  readonly email?: string
}

/** The log-in form, which any page shows to a browser without a session. */
export function logInPage({
  status,
  target,
  page = pageIn(target),
  errorMessage = NOTHING,
  email = '',
}: LogInPage): HttpResponse {
  const home = pathToRoot(target)
  return formPage({
    status,
    title: 'Your inventory',
    home,
    content: html`${errorMessage}
      <p>Log in with your account to view and change your stones.</p>
      <form method="post" action="${home}inventory">
        <input type="hidden" name="page" value="${page}" />
        <div>
          <label for="email">E-mail address</label>
          <input id="email" name="email" type="email" required autocomplete="username" value="${email}" />
        </div>
        <div>
          <label for="password">Password</label>
          <input id="password" name="password" type="password" required autocomplete="current-password" />
        </div>
        <button type="submit">Log in</button>
      </form>
      <p class="soft">You stay logged in for 12 hours, or until you log out.</p>`,
  })
}

/** The path and the query of a request's target, relative to the front page: `inventory/7`. */
export function pageIn(target: string): string {
  const [path = '', search = ''] = target.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 2)
  const query = new URLSearchParams(search).toString()
  return path.split('/').filter(Boolean).join('/') + (query === '' ? '' : `?${query}`)
}

const pages = errorPages((page) => formPage({ ...page, actions: inventoryLink(page.home ?? '') }))

/** The link back to the list. @param home from `pathToRoot` */
export const inventoryLink = (home: string): Html => html`<a href="${home}inventory">Your inventory</a>`

/** The header of the pages behind the log-in. @param home from `pathToRoot` */
export const accountActions = (home: string): Html =>
  html`<nav aria-label="Inventory">
    ${inventoryLink(home)} <a href="${home}inventory/import">Import</a> <a href="${home}inventory/export">Export</a>
    <form method="post" action="${home}inventory/log-out">
      <button type="submit" class="quiet">Log out</button>
    </form>
  </nav>`

/** Without a session, each page is the log-in form. */
export const inventoryPagesGroup: EndpointGroup = {
  tag: 'Inventory pages',
  pathPrefixes: ['/inventory'],
  ...pages,
  errorResponse: (details, error, request) =>
    details.status === 401
      ? logInPage({ status: 200, target: request.target })
      : pages.errorResponse(details, error, request),
}
