import type { Readable } from 'node:stream'
import { z } from 'zod'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { DiamondView } from '../../projections/diamonds/diamond-view.ts'
import type { DiamondFilter } from '../../projections/diamonds/list-attributes.ts'
import { StoneExport, type ExportSummary } from '../../trade-files/export/export.ts'
import { EXPORT_FORMAT_NAMES, EXPORT_FORMATS, type ExportFormatName } from '../../trade-files/export/formats.ts'
import { FILTER_QUERY, filterFrom } from '../diamonds/list-query.ts'
import type { DiamondServices } from '../diamonds/resource.ts'
import { AccountSlots } from '../kit/account-slots.ts'
import { bearer } from '../kit/authenticate.ts'
import { endpoint } from '../kit/endpoint.ts'
import { accountGroup } from '../kit/errors.ts'
import { choice, queryReader } from '../kit/parameters/query.ts'
import { contentResponse, ok, textStream, type HttpResponse, type ResponseHeaders } from '../kit/response.ts'

export type ExportServices = DiamondServices & {
  readonly exports: {
    /** Each export keeps a page of stones in memory. */
    readonly slots: AccountSlots
  }
}

const MAX_CONCURRENT_EXPORTS = 4

export const createExportSlots = () => new AccountSlots(MAX_CONCURRENT_EXPORTS, 'exports')

/** Those who read feeds take no slots of the exports of the account. */
export const createFeedSlots = () => new AccountSlots(MAX_CONCURRENT_EXPORTS, 'reads of feeds')

export const EXPORT_FORMAT = choice(EXPORT_FORMAT_NAMES).meta({ id: 'ExportFormat' })

/** Describes the formats in the API reference. */
export const EXPORT_FORMAT_TEXT = `${Object.entries(EXPORT_FORMATS)
  .map(([name, { about }]) => `\`${name}\`: ${about}`)
  .join('; ')}.`

/** The query of an export: its format, and the filters of v4's list. */
export const EXPORT_QUERY = z.object({
  format: EXPORT_FORMAT.default('csv').describe(EXPORT_FORMAT_TEXT),
  ...FILTER_QUERY.shape,
})

const readExportQuery = queryReader(EXPORT_QUERY)

export type ExportRequest = { readonly format: ExportFormatName; readonly filter: DiamondFilter }

/** @param search without the question mark @throws RequestError malformed or invalid, with all errors */
export function parseExportQuery(search: string): ExportRequest {
  const query = readExportQuery(search)
  return { format: query.format, filter: filterFrom(query) }
}

/** Media types of files without their parameters. */
export const EXPORT_MEDIA_TYPES = [
  ...new Set(Object.values(EXPORT_FORMATS).map(({ mediaType }) => mediaType.split(';', 1)[0] ?? mediaType)),
]

export const EXPORT_HEADERS = { 'Content-Disposition': 'The name of the file, with the day (UTC)' } as const

export const EXPORT_ERRORS = {
  400: 'A query parameter is unknown or cannot be parsed',
  422: 'A query parameter is out of range',
  429: 'Too many exports of the account at a time',
} as const

export const exportDiamonds = endpoint({
  operationId: 'exportDiamonds',
  method: 'GET',
  path: '/v4/diamond/export',
  summary: "Export the account's diamonds as a file, oldest first, for a spreadsheet, another account or a portal",
  auth: bearer,
  query: EXPORT_QUERY,
  group: accountGroup,
  responses: {
    200: { description: 'The file', mediaType: EXPORT_MEDIA_TYPES, schema: z.string(), headers: EXPORT_HEADERS },
    ...EXPORT_ERRORS,
  },
  handler: (ctx, services: ExportServices) =>
    createExportResponse(ctx.state.principal.account, parseExportQuery(ctx.querystring), services),
})

const SUMMARY = z
  .strictObject({
    format: EXPORT_FORMAT,
    stones: z.int().min(0).describe('Number of stones in the file'),
    remarks: z
      .array(
        z.strictObject({
          text: z.string().describe('Completes "12 stones are ..."'),
          stones: z.int().min(1),
          skus: z.array(z.string()).describe('Stock numbers of the first ten'),
        }),
      )
      .describe('What a portal requires and some stones lack, and which stones are left out'),
    lacks: z.string().nullable().describe('What the format requires and is not stored here'),
  })
  .meta({ id: 'ExportSummary' })

export const summarizeExport = endpoint({
  operationId: 'summarizeExport',
  method: 'GET',
  path: '/v4/diamond/export/summary',
  summary: 'Check what an export would contain, and what the portal requires and stones lack',
  auth: bearer,
  query: EXPORT_QUERY,
  group: accountGroup,
  responses: { 200: { description: 'The summary', schema: SUMMARY }, ...EXPORT_ERRORS },
  async handler(ctx, services: ExportServices) {
    const request = parseExportQuery(ctx.querystring)
    const summary = await readExportSummary(ctx.state.principal.account, request, services)
    return ok({ format: request.format, ...summary })
  },
})

/** A file with an account's stones, as it is read from the read model. @param headers further ones */
export function createExportResponse(
  account: number,
  request: ExportRequest,
  services: ExportServices,
  headers: ResponseHeaders = {},
): HttpResponse {
  const { mediaType, extension, isPortal } = EXPORT_FORMATS[request.format]
  const day = new Date(services.diamonds.context.clock()).toISOString().slice(0, 10)
  const fileName = `${isPortal ? request.format : 'stones'}-${day}.${extension}`
  return contentResponse(200, mediaType, () => openExport(account, request, services), {
    ...headers,
    'Content-Disposition': `attachment; filename="${fileName}"`,
  })
}

/** @throws RequestError too-many; unavailable if the read model lags too long */
async function openExport(
  account: number,
  { format, filter }: ExportRequest,
  { diamonds: { queries, links }, exports }: ExportServices,
): Promise<Readable> {
  const release = exports.slots.acquire(account)
  try {
    const stones = stonesIn(await startOf(queries.pagesOf(account, filter)))
    const file = textStream(new StoneExport(format, links).write(stones))
    file.once('close', release)
    return file
  } catch (error) {
    release()
    throw error
  }
}

/** @throws as `openExport` */
export async function readExportSummary(
  account: number,
  { format, filter }: ExportRequest,
  { diamonds: { queries, links }, exports }: ExportServices,
): Promise<ExportSummary> {
  const release = exports.slots.acquire(account)
  try {
    const stoneExport = new StoneExport(format, links)
    await stoneExport.check(stonesIn(queries.pagesOf(account, filter)))
    return stoneExport.summary
  } finally {
    release()
  }
}

async function* stonesIn(pages: AsyncIterable<readonly DiamondView[]>): AsyncGenerator<readonly LiveDiamond[]> {
  for await (const views of pages) yield views.map(({ diamond }) => diamond)
}

/** Waits for the first item, so that an error before it is a response with its status. */
async function startOf<Item>(items: AsyncGenerator<Item>): Promise<AsyncGenerator<Item>> {
  const first = await items.next()
  return (async function* () {
    if (first.done === true) return
    yield first.value
    yield* items
  })()
}
