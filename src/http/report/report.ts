import type { People } from '../../commands/accounts/people.ts'
import { z } from 'zod'
import { pageRevision } from '../../domain/diamond/diamond.ts'
import { Refusal } from '../../domain/decider.ts'
import type { DiamondQueries } from '../../projections/diamonds/diamond-queries.ts'
import type { DiamondView } from '../../projections/diamonds/diamond-view.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { DIAMOND_ID } from '../diamonds/resource.ts'
import { bytes, type Headers } from '../kit/answer.ts'
import { staleHeaders } from '../kit/consistency.ts'
import { anybody, endpoint, type Asked } from '../kit/endpoint.ts'
import { RefusedWith } from '../kit/errors.ts'
import { upFrom } from '../kit/html.ts'
import { signatureOf, type Links } from '../kit/links.ts'
import { pageAnswer, reportFamily } from './layout.ts'
import { reportOf } from './page.ts'
import { shownOf, type Pictures } from './pictures.ts'

export type ReportServices = {
  readonly report: {
    readonly queries: DiamondQueries
    readonly links: Links
    readonly pictures: Pictures
    readonly store: Pick<EventStore, 'read'>
    /** Who did what stands in its history. */
    readonly people: Pick<People, 'shownAs'>
  }
}

const SIGNED = z.object({
  signature: z.string().optional().describe("What the owner's link to a restricted diamond is signed with."),
})

const TWICE = 'The signature stands twice, or its name is mistyped'
const UNKNOWN = 'There is no such diamond, or it is not shown to everybody'

/**
 * A diamond's report page. A restricted one opens by the signature in its owner's link; without it, it is as unknown as
 * one that doesn't exist.
 */
export const readReportPage = endpoint({
  name: 'readReportPage',
  method: 'GET',
  path: '/diamond/{id}',
  about: "A diamond's report for people: what it is, how it looks and scores, and its certificates.",
  who: anybody,
  parameters: { id: DIAMOND_ID },
  query: SIGNED,
  answers: { 200: { about: 'The page', media: 'text/html' }, 400: TWICE, 404: UNKNOWN },
  family: reportFamily,
  async run(asked, { report }: ReportServices) {
    const { view, signature, headers } = await opened(asked, report)
    return pageAnswer(reportOf(view, report.links, { signature, up: upFrom(asked.target) }), headers)
  },
})

const LOOKS = { 'face-up.png': 'face-up', 'aset.png': 'aset', 'rocked.png': 'rocked' } as const

export const readPicture = endpoint({
  name: 'readPicture',
  method: 'GET',
  path: '/diamond/{id}/{picture}',
  about:
    'A picture of this diamond, traced from its own 3D file where that is shown, else from a model of a cut like it.',
  who: anybody,
  parameters: {
    id: DIAMOND_ID,
    picture: z
      .enum(['face-up.png', 'aset.png', 'rocked.png'])
      .describe('As it looks in a room; where its light comes from; as it is rocked from -15° to 15°.'),
  },
  query: SIGNED,
  requestHeaders: {
    'If-None-Match': z
      .string()
      .optional()
      .describe('Tags of copies that the caller has.')
      .meta({ examples: ['"nmYn2CqY1mT8bM0dE1vJ4w"'] }),
  },
  answers: {
    200: {
      about: 'The picture, 480 pixels long; of a rocked stone five side by side, 200 pixels long',
      media: 'image/png',
      headers: { ETag: 'The same for equal cuts' },
    },
    304: 'The copy is the picture that there is',
    400: TWICE,
    404: `${UNKNOWN}, or there is no model of its cut`,
  },
  family: reportFamily,
  async run(asked, { report }: ReportServices) {
    const { view, headers: stale } = await opened(asked, report)
    const shown = shownOf(view.diamond)
    if (shown === null) throw new RefusedWith(stale, noPicture())
    const picture = report.pictures.of(shown, LOOKS[asked.params.picture])
    const headers = { ...stale, ...headersOf(view), ETag: picture.etag }
    const drawn = async () => {
      const png = await picture.png()
      if (png === undefined) throw new RefusedWith(stale, noPicture())
      return png
    }
    return bytes(200, 'image/png', drawn, headers)
  },
})

const headersOf = ({ diamond: { fields } }: DiamondView): Headers => ({
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
  // Asked again each time: a diamond that is restricted now is not shown from caches.
  'Cache-Control': fields.access === 2 ? 'public, no-cache' : 'private, no-cache',
  ...(fields.access !== 2 && { 'X-Robots-Tag': 'noindex' }),
})

type Opened = {
  readonly view: DiamondView
  /** The one that opened it, empty where none was needed. */
  readonly signature: string
  /** Say how old the view is where the log is away. */
  readonly headers: Headers
}

/** @throws Refusal missing, malformed for two signatures */
async function opened(
  { params: { id }, search }: Pick<Asked<unknown, unknown, { readonly id: string }>, 'params' | 'search'>,
  { queries, links }: ReportServices['report'],
): Promise<Opened> {
  const { view, age } = /^[1-9]\d{0,15}$/.test(id) ? await queries.one(Number(id)) : UNKNOWN_VIEW
  const headers = staleHeaders(age)
  if (view === undefined) throw new RefusedWith(headers, unknownDiamond())
  const signature = signatureOf(search)
  const isOpened = links.opened(`/diamond/${id}`, signature)?.revision === pageRevision(view.diamond)
  if (view.diamond.fields.access === 0 && !isOpened) throw new RefusedWith(headers, unknownDiamond())
  return { view, signature: isOpened ? signature : '', headers }
}

const UNKNOWN_VIEW = { view: undefined, age: undefined }

const unknownDiamond = () => new Refusal('missing', 'There is no such diamond')

const noPicture = () => new Refusal('missing', 'There is no picture of this diamond')
