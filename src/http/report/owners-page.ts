import { z } from 'zod'
import { pageRevision, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import { Refusal } from '../../domain/decider.ts'
import type { DiamondView } from '../../projections/diamonds/diamond-view.ts'
import { entryOf, readPast, type DiamondPast } from '../../projections/history/diamond.ts'
import { Who } from '../../projections/history/who.ts'
import { LASTS } from '../../representations/json.ts'
import { DIAMOND_ID } from '../diamonds/resource.ts'
import { anybody, endpoint } from '../kit/endpoint.ts'
import { html, NOTHING, upFrom } from '../kit/html.ts'
import { signatureOf, type Links } from '../kit/links.ts'
import { pageAnswer, reportFamily, type Page } from './layout.ts'
import { reportOf } from './page.ts'
import type { ReportServices } from './report.ts'
import { SHOWN, timelineSection } from './timeline.ts'

const pathOf = (id: number) => `/diamond/${id}/history`

/**
 * Where a stone's owner sees its report with all that happened to it. For a day, and until the stone's access is changed.
 * It is told to who has shown the owner's token, and to nobody else: the link of the report page is for buyers.
 */
export const ownersLink = (links: Links, diamond: LiveDiamond): string =>
  links.signed(pathOf(diamond.id), LASTS.aDay, pageRevision(diamond))

export const readOwnersPage = endpoint({
  name: 'readOwnersPage',
  method: 'GET',
  path: '/diamond/{id}/history',
  about: "A diamond's report for its owner: with a timeline of what happened to it, prices and names included.",
  who: anybody,
  parameters: { id: DIAMOND_ID },
  query: z.object({
    signature: z
      .string()
      .optional()
      .describe("What the owner's link is signed with: it stands in Link of the history."),
  }),
  answers: {
    200: { about: 'The page', media: 'text/html' },
    400: 'The signature stands twice, or its name is mistyped',
    404: 'There is no such diamond, or the signature is not good',
    410: 'The link was good for a day, which is over',
  },
  family: reportFamily,
  async run({ params, search, target }, { report: { links, store, people } }: ReportServices) {
    const id = /^[1-9]\d{0,15}$/.test(params.id) ? Number(params.id) : 0
    const opened = links.opened(pathOf(id), signatureOf(search))
    if (opened === undefined) throw unknownPage()
    if (opened.expired) throw new Refusal('gone', 'This link was good for a day: read the history again for a new one')
    const past = await readPast(store, id)
    if (!past.isLive || past.last === undefined || pageRevision(past.last.diamond) !== opened.revision) {
      throw unknownPage()
    }
    return pageAnswer(await ownersReport(past.last, past.steps, { links, store, people }, `../${upFrom(target)}`))
  },
})

/**
 * The report of a stone with all that happened to it.
 * @param up what relative addresses begin with, to where report pages are
 */
export async function ownersReport(
  view: DiamondView,
  steps: DiamondPast['steps'],
  { links, store, people }: Pick<ReportServices['report'], 'links' | 'store' | 'people'>,
  up: string,
): Promise<Page> {
  const who = new Who(store, people)
  const newest = steps.slice(-SHOWN)
  const entries = await Promise.all(newest.map(async (step) => entryOf(step, await who.of(step.event))))
  const page = reportOf(view, links, { signature: pageSignature(links, view.diamond), up })
  const content = html`${page.content} ${timelineSection(entries, steps.length)}`
  return { ...page, content, head: NOTHING, isPublic: false, isOwners: true }
}

const unknownPage = () => new Refusal('missing', 'There is no such page')

/** Of the page that others open, and of the pictures on it. */
function pageSignature(links: Links, diamond: LiveDiamond): string {
  const link = new URL(links.signed(`/diamond/${diamond.id}`, LASTS.withItsAccess, pageRevision(diamond)))
  return link.searchParams.get('signature') ?? ''
}
