import type { AccountDirectory } from '../../commands/accounts/account-directory.ts'
import { z } from 'zod'
import { pageLinkRevision } from '../../domain/diamond/diamond.ts'
import { RequestError } from '../../domain/decider.ts'
import type { DiamondQueries } from '../../projections/diamonds/diamond-queries.ts'
import type { DiamondView } from '../../projections/diamonds/diamond-view.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { DIAMOND_ID } from '../diamonds/resource.ts'
import { binaryResponse, type ResponseHeaders } from '../kit/response.ts'
import { staleHeaders } from '../kit/consistency.ts'
import { publicAccess, endpoint, type HttpRequest } from '../kit/endpoint.ts'
import { ErrorWithHeaders } from '../kit/errors.ts'
import { relativePrefixOf } from '../kit/html.ts'
import { parseSignature, type SignedLinks } from '../kit/signed-links.ts'
import { reportPageResponse, reportPagesGroup } from './layout.ts'
import { reportOf } from './report-page.ts'
import { pictureSubjectOf, type StonePictureCache } from './pictures.ts'

export type ReportServices = {
  readonly report: {
    readonly queries: DiamondQueries
    readonly links: SignedLinks
    readonly pictures: StonePictureCache
    readonly store: Pick<EventStore, 'read'>
    /** Who did what stands in its history. */
    readonly people: Pick<AccountDirectory, 'displayNameOf'>
  }
}

const SIGNATURE_QUERY = z.object({
  signature: z.string().optional().describe("What the owner's link to a restricted diamond is signed with."),
})

const MALFORMED_SIGNATURE = 'The signature stands twice, or its name is mistyped'
const UNKNOWN = 'There is no such diamond, or it is not shown to everybody'

/**
 * A diamond's report page. A restricted one opens by the signature in its owner's link; without it, it is as unknown as
 * one that doesn't exist.
 */
export const readReportPage = endpoint({
  operationId: 'readReportPage',
  method: 'GET',
  path: '/diamond/{id}',
  summary: "A diamond's report for people: what it is, how it looks and scores, and its certificates.",
  auth: publicAccess,
  pathParameters: { id: DIAMOND_ID },
  query: SIGNATURE_QUERY,
  responses: { 200: { description: 'The page', mediaType: 'text/html' }, 400: MALFORMED_SIGNATURE, 404: UNKNOWN },
  group: reportPagesGroup,
  async handler(request, { report }: ReportServices) {
    const { view, signature, headers } = await authorizeReport(request, report)
    return reportPageResponse(
      reportOf(view, report.links, { signature, relativePrefix: relativePrefixOf(request.target) }),
      headers,
    )
  },
})

const PICTURE_BY_FILE_NAME = { 'face-up.png': 'face-up', 'aset.png': 'aset', 'rocked.png': 'rocked' } as const

export const readPicture = endpoint({
  operationId: 'readPicture',
  method: 'GET',
  path: '/diamond/{id}/{picture}',
  summary:
    'A picture of this diamond, traced from its own 3D file where that is shown, else from a model of a cut like it.',
  auth: publicAccess,
  pathParameters: {
    id: DIAMOND_ID,
    picture: z
      .enum(['face-up.png', 'aset.png', 'rocked.png'])
      .describe('As it looks in a room; where its light comes from; as it is rocked from -15° to 15°.'),
  },
  query: SIGNATURE_QUERY,
  requestHeaders: {
    'If-None-Match': z
      .string()
      .optional()
      .describe('Tags of copies that the caller has.')
      .meta({ examples: ['"nmYn2CqY1mT8bM0dE1vJ4w"'] }),
  },
  responses: {
    200: {
      description: 'The picture, 480 pixels long; of a rocked stone five side by side, 200 pixels long',
      mediaType: 'image/png',
      headers: { ETag: 'The same for equal cuts' },
    },
    304: 'The copy is the picture that there is',
    400: MALFORMED_SIGNATURE,
    404: `${UNKNOWN}, or there is no model of its cut`,
  },
  group: reportPagesGroup,
  async handler(request, { report }: ReportServices) {
    const { view, headers: stale } = await authorizeReport(request, report)
    const subject = pictureSubjectOf(view.diamond)
    if (subject === null) throw new ErrorWithHeaders(stale, noPicture())
    const picture = report.pictures.pictureOf(subject, PICTURE_BY_FILE_NAME[request.params.picture])
    const headers = { ...stale, ...headersOf(view), ETag: picture.etag }
    const drawn = async () => {
      const png = await picture.png()
      if (png === undefined) throw new ErrorWithHeaders(stale, noPicture())
      return png
    }
    return binaryResponse(200, 'image/png', drawn, headers)
  },
})

const headersOf = ({ diamond: { fields } }: DiamondView): ResponseHeaders => ({
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
  // Asked again each time: a diamond that is restricted now is not shown from caches.
  'Cache-Control': fields.access === 2 ? 'public, no-cache' : 'private, no-cache',
  ...(fields.access !== 2 && { 'X-Robots-Tag': 'noindex' }),
})

type ReportAccess = {
  readonly view: DiamondView
  /** The one that opened it, empty where none was needed. */
  readonly signature: string
  /** Say how old the view is where the log is away. */
  readonly headers: ResponseHeaders
}

/** @throws Refusal missing, malformed for two signatures */
async function authorizeReport(
  { params: { id }, search }: Pick<HttpRequest<unknown, unknown, { readonly id: string }>, 'params' | 'search'>,
  { queries, links }: ReportServices['report'],
): Promise<ReportAccess> {
  const { view, ageSeconds } = /^[1-9]\d{0,15}$/.test(id) ? await queries.findDiamond(Number(id)) : UNKNOWN_VIEW
  const headers = staleHeaders(ageSeconds)
  if (view === undefined) throw new ErrorWithHeaders(headers, unknownDiamond())
  const signature = parseSignature(search)
  const isOpened = links.verify(`/diamond/${id}`, signature)?.revision === pageLinkRevision(view.diamond)
  if (view.diamond.fields.access === 0 && !isOpened) throw new ErrorWithHeaders(headers, unknownDiamond())
  return { view, signature: isOpened ? signature : '', headers }
}

const UNKNOWN_VIEW = { view: undefined, ageSeconds: undefined }

const unknownDiamond = () => new RequestError('missing', 'There is no such diamond')

const noPicture = () => new RequestError('missing', 'There is no picture of this diamond')
