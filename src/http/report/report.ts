import { z } from 'zod'
import { pageLinkRevision } from '../../domain/diamond/diamond.ts'
import { parseId } from '../../domain/entity-id.ts'
import { RequestError } from '../../domain/request-error.ts'
import type { DiamondView } from '../../projections/diamonds/diamond-view.ts'
import { DIAMOND_ID, type DiamondServices } from '../diamonds/resource.ts'
import { contentResponse, type ResponseHeaders } from '../kit/response.ts'
import { staleHeaders } from '../kit/consistency.ts'
import { publicAccess, endpoint, type EndpointContext } from '../kit/endpoint.ts'
import { ErrorWithHeaders } from '../kit/errors.ts'
import { pathToRoot } from '../kit/page.ts'
import { parseSignature } from '../kit/signed-links.ts'
import { reportPageResponse, reportPagesGroup, type defineWidget } from './layout.ts'
import { reportOf } from './report-page.ts'
import { missingWidget, widgetOf } from './widget.ts'
import { pictureSubjectOf, type StonePictureCache } from './pictures.ts'

export type ReportServices = DiamondServices & {
  readonly pictures: StonePictureCache
  readonly widgets: { readonly respond: ReturnType<typeof defineWidget> }
}

const SIGNATURE_QUERY = z.object({
  signature: z.string().optional().describe('The signature of the link, required for a restricted diamond.'),
})

const MALFORMED_SIGNATURE = 'The signature is repeated, or its name is misspelt'
const UNKNOWN = 'No such diamond, or it is not public'

/** Without a valid signature, a restricted diamond is indistinguishable from one that does not exist. */
export const readReportPage = endpoint({
  operationId: 'readReportPage',
  method: 'GET',
  path: '/diamond/{id}',
  summary: 'Show the report page of a diamond, with its properties, pictures, optical scores and certificates',
  auth: publicAccess,
  pathParameters: { id: DIAMOND_ID },
  query: SIGNATURE_QUERY,
  responses: { 200: { description: 'The page', mediaType: 'text/html' }, 400: MALFORMED_SIGNATURE, 404: UNKNOWN },
  group: reportPagesGroup,
  async handler(ctx, { diamonds }: DiamondServices) {
    const { view, signature, headers } = await authorizeReport(ctx, diamonds)
    return reportPageResponse(reportOf(view, diamonds.links, { signature, home: pathToRoot(ctx.originalUrl) }), headers)
  },
})

export const readWidget = endpoint({
  operationId: 'readWidget',
  method: 'GET',
  path: '/diamond/{id}/widget',
  summary: "Show a diamond's picture, scores and proportions in a frame of 480 x 640 pixels in another site",
  auth: publicAccess,
  pathParameters: { id: DIAMOND_ID },
  query: SIGNATURE_QUERY,
  responses: {
    200: { description: 'The page', mediaType: 'text/html' },
    400: MALFORMED_SIGNATURE,
    404: `${UNKNOWN}; the page says that it is not available`,
  },
  group: reportPagesGroup,
  async handler(ctx, { diamonds, widgets }: ReportServices) {
    try {
      const { view, signature, headers } = await authorizeReport(ctx, diamonds)
      return widgets.respond(widgetOf(view, { signature, home: pathToRoot(ctx.originalUrl) }), headers)
    } catch (error) {
      // The group's page for errors cannot be framed.
      if (error instanceof ErrorWithHeaders && error.error instanceof RequestError && error.error.kind === 'missing')
        return widgets.respond(missingWidget(), error.headers)
      throw error
    }
  },
})

const PICTURE_BY_FILE_NAME = { 'face-up.png': 'face-up', 'aset.png': 'aset', 'rocked.png': 'rocked' } as const

export const readPicture = endpoint({
  operationId: 'readPicture',
  method: 'GET',
  path: '/diamond/{id}/{picture}',
  summary:
    "Retrieve a picture of a diamond. It is traced from the diamond's own 3D file if that is public, otherwise from a model " +
    'of its cut.',
  auth: publicAccess,
  pathParameters: {
    id: DIAMOND_ID,
    picture: z
      .enum(['face-up.png', 'aset.png', 'rocked.png'])
      .describe(
        'The diamond in room light (`face-up.png`), in ASET light (`aset.png`), or tilted from -15° to 15° (`rocked.png`).',
      ),
  },
  query: SIGNATURE_QUERY,
  requestHeaders: {
    'If-None-Match': z
      .string()
      .optional()
      .describe('ETags of cached copies.')
      .meta({ examples: ['"nmYn2CqY1mT8bM0dE1vJ4w"'] }),
  },
  responses: {
    200: {
      description:
        'The picture, with sides of 480 pixels; `rocked.png` has five pictures side by side, with sides of 200 pixels',
      mediaType: 'image/png',
      headers: { ETag: 'Equal for equal cuts' },
    },
    304: 'Not modified: the ETag in If-None-Match is current',
    400: MALFORMED_SIGNATURE,
    404: `${UNKNOWN}, or its cut has no optical model`,
  },
  group: reportPagesGroup,
  async handler(ctx, { diamonds, pictures }: ReportServices) {
    const { view, headers: stale } = await authorizeReport(ctx, diamonds)
    const subject = pictureSubjectOf(view.diamond)
    if (subject === null) throw new ErrorWithHeaders(stale, noPicture())
    const picture = pictures.pictureOf(subject, PICTURE_BY_FILE_NAME[ctx.params.picture])
    const headers = { ...stale, ...headersOf(view), ETag: picture.etag }
    const renderPicture = async () => {
      const png = await picture.png()
      if (png === undefined) throw new ErrorWithHeaders(stale, noPicture())
      return png
    }
    return contentResponse(200, 'image/png', renderPicture, headers)
  },
})

const headersOf = ({ diamond: { fields } }: DiamondView): ResponseHeaders => ({
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
  // Caches must revalidate, so that a diamond that has become restricted is not served from a cache.
  'Cache-Control': fields.access === 2 ? 'public, no-cache' : 'private, no-cache',
  ...(fields.access !== 2 && { 'X-Robots-Tag': 'noindex' }),
})

type ReportAccess = {
  readonly view: DiamondView
  readonly signature: string
  /** State the age of the data while the event log is unavailable. */
  readonly headers: ResponseHeaders
}

/** @throws RequestError missing, or malformed for a repeated signature */
async function authorizeReport(
  {
    params: { id },
    querystring,
  }: Pick<EndpointContext<unknown, unknown, { readonly id: string }>, 'params' | 'querystring'>,
  { queries, links }: DiamondServices['diamonds'],
): Promise<ReportAccess> {
  const { view, ageSeconds } = await queries.findDiamond(parseId(id) ?? 0)
  const headers = staleHeaders(ageSeconds)
  if (view === undefined) throw new ErrorWithHeaders(headers, unknownDiamond())
  const signature = parseSignature(querystring)
  const hasValidSignature = links.verify(`/diamond/${id}`, signature)?.revision === pageLinkRevision(view.diamond)
  if (view.diamond.fields.access === 0 && !hasValidSignature) throw new ErrorWithHeaders(headers, unknownDiamond())
  return { view, signature: hasValidSignature ? signature : '', headers }
}

const unknownDiamond = () => new RequestError('missing', 'Diamond not found')

const noPicture = () => new RequestError('missing', 'No picture of this diamond is available')
