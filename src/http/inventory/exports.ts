import { EXPORT_FORMAT_NAMES, EXPORT_FORMATS, type ExportFormatName } from '../../trade-files/export/formats.ts'
import { describeRemark, type ExportSummary } from '../../trade-files/export/export.ts'
import { FILTER_QUERY } from '../diamonds/list-query.ts'
import {
  createExportResponse,
  EXPORT_ERRORS,
  EXPORT_FORMAT,
  EXPORT_HEADERS,
  EXPORT_MEDIA_TYPES,
  EXPORT_QUERY,
  parseExportQuery,
  readExportSummary,
  type ExportServices,
} from '../exports/exports.ts'
import { endpoint } from '../kit/endpoint.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import { pathToRoot } from '../kit/page.ts'
import { plural } from './count-text.ts'
import { describeFilters } from './inventory-page.ts'
import { accountActions, formPage, inventoryPagesGroup, pageIn } from './layout.ts'
import { session } from './session.ts'

export const showExports = endpoint({
  operationId: 'showExports',
  method: 'GET',
  path: '/inventory/export',
  summary: "Show the formats of exports, or what a portal's format requires and stones lack",
  auth: session,
  query: EXPORT_QUERY,
  responses: { 200: { description: 'The page, or the log-in form', mediaType: 'text/html' }, ...EXPORT_ERRORS },
  group: inventoryPagesGroup,
  async handler(ctx, services: ExportServices) {
    const request = parseExportQuery(ctx.querystring)
    const query = new URLSearchParams(ctx.querystring)
    const home = pathToRoot(ctx.originalUrl)
    const hasFormat = query.has('format')
    query.delete('format')
    const filters = { query, home }
    const { title } = EXPORT_FORMATS[request.format]
    const content = hasFormat
      ? summaryView(request.format, await readExportSummary(ctx.state.principal.account, request, services), filters)
      : html`${EXPORT_FORMAT_NAMES.map((format) => formatView(format, filters))}
          <h2>For a partner</h2>
          <p>A feed is an address from which a program fetches these stones at any time.</p>
          <p><a href="${addressOf('inventory/feeds', filters)}">Create or delete a feed</a></p>`
    return formPage({
      status: 200,
      title: hasFormat ? `Export for ${title}` : 'Export your stones',
      home,
      actions: accountActions(home),
      content: html`${selectionView(filters)} ${content}`,
    })
  },
})

/** The filters of an export as query parameters, and the way to the front page. */
type Filters = { readonly query: URLSearchParams; readonly home: string }

const addressOf = (path: string, { query, home }: Filters, parameters: Readonly<Record<string, string>> = {}) =>
  home + pageIn(`/${path}?${new URLSearchParams([...Object.entries(parameters), ...query]).toString()}`)

/** Which stones the filters select. */
export const selectionView = (filters: Filters): Html =>
  filters.query.size === 0
    ? html`<p>All your stones; or <a href="${addressOf('inventory', filters)}">filter the list</a> first.</p>`
    : html`<p>
        Stones with ${describeFilters(filters.query)}.
        <a href="${addressOf('inventory', filters)}">Change the filters</a>
      </p>`

function formatView(format: ExportFormatName, filters: Filters): Html {
  const { title, about, isPortal } = EXPORT_FORMATS[format]
  const link = isPortal
    ? html`<a href="${addressOf('inventory/export', filters, { format })}">Check and download for ${title}</a>`
    : html`<a href="${addressOf(`inventory/export/${format}`, filters)}">Download ${title}</a>`
  return html`<h2>${title}</h2>
    <p>${about.slice(0, 1).toUpperCase() + about.slice(1)}.</p>
    <p>${link}</p>`
}

function summaryView(format: ExportFormatName, { stones, remarks, lacks }: ExportSummary, filters: Filters): Html {
  const { title } = EXPORT_FORMATS[format]
  return html`<p role="status">The file has ${plural(stones, 'stone', 'stones')}.</p>
    ${
      remarks.length === 0
        ? NOTHING
        : html`<ul>
            ${remarks.map((remark) => html`<li>${describeRemark(remark)}</li>`)}
          </ul>`
    }
    ${lacks === null ? NOTHING : html`<p>${title} also requires ${lacks}.</p>`}
    <form method="get" action="${filters.home}inventory/export/${format}">
      ${[...filters.query].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
      <button type="submit">Download for ${title}</button>
    </form>
    <p><a href="${addressOf('inventory/export', filters)}">Other formats</a></p>`
}

export const downloadExport = endpoint({
  operationId: 'downloadExport',
  method: 'GET',
  path: '/inventory/export/{format}',
  summary: 'Download an export in the browser',
  auth: session,
  pathParameters: { format: EXPORT_FORMAT.describe('The format of the file.') },
  query: FILTER_QUERY,
  responses: {
    200: {
      description: 'The file, or the log-in form',
      mediaType: [...EXPORT_MEDIA_TYPES, 'text/html'],
      headers: EXPORT_HEADERS,
    },
    ...EXPORT_ERRORS,
  },
  group: inventoryPagesGroup,
  handler(ctx, services: ExportServices) {
    const { filter } = parseExportQuery(ctx.querystring)
    return createExportResponse(ctx.state.principal.account, { format: ctx.params.format, filter }, services)
  },
})
