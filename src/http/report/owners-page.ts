import { z } from 'zod'
import { RequestError } from '../../domain/decider.ts'
import { pageLinkRevision, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { DiamondView } from '../../projections/diamonds/diamond-view.ts'
import {
  toHistoryEntry,
  readDiamondHistory,
  titleOf,
  type DiamondHistory,
} from '../../projections/history/diamond-history.ts'
import type { HistoryActor, FieldChange, HistoryEntry } from '../../projections/history/history-entry.ts'
import { ActorResolver } from '../../projections/history/actor-resolver.ts'
import { fieldDisplayName, fieldDisplayValue } from '../../representations/diamond/display-value.ts'
import { LINK_LIFETIMES } from '../../representations/json.ts'
import { DIAMOND_ID } from '../diamonds/resource.ts'
import { publicAccess, endpoint } from '../kit/endpoint.ts'
import { html, NOTHING, relativePrefixOf, type Html } from '../kit/html.ts'
import { parseSignature, type SignedLinks } from '../kit/signed-links.ts'
import { reportPageResponse, reportPagesGroup, type ReportPage } from './layout.ts'
import { reportOf } from './report-page.ts'
import type { ReportServices } from './report.ts'

/** Entries that a page shows at most: a stone that a program reprices every hour has thousands. */
const MAX_TIMELINE_ENTRIES = 50

/**
 * What happened to a stone, for its owner alone.
 * @param entries the newest ones, oldest first
 * @param total how many there are
 */
function timelineSection(entries: readonly HistoryEntry[], total: number): Html {
  const earlier = total - entries.length
  return html`<section>
    <h2>What happened to it</h2>
    <p class="soft">This is for the owner alone: the page that others open has nothing of it.</p>
    <ol class="past">
      ${entries.toReversed().map(item)}
    </ol>
    ${earlier === 0 ? NOTHING : html`<p class="soft">${String(earlier)} earlier entries are in the API's history.</p>`}
  </section>`
}

const item = (entry: HistoryEntry): Html =>
  html`<li>
    <p>
      <time datetime="${entry.at}">${entry.at.slice(0, 19).replace('T', ' ')} UTC</time>
      <strong>${titleOf(entry.type)}</strong> <span class="soft">${actorText(entry.by)}</span>
    </p>
    ${entry.undecoded === undefined ? NOTHING : html`<p>This entry can not be read at the moment.</p>`}
    ${
      entry.changes.length === 0
        ? NOTHING
        : html`<ul>
            ${entry.changes.map(changeItem)}
          </ul>`
    }
  </li>`

function changeItem({ field, from, to }: FieldChange): Html {
  const [name, was, is] = [fieldDisplayName(field), fieldDisplayValue(field, from), fieldDisplayValue(field, to)]
  if (from === null) return html`<li>${name}: ${is}</li>`
  if (to === null) return html`<li>${name}: no longer ${was}</li>`
  return html`<li>${name}: from ${was} to ${is}</li>`
}

function actorText(by: HistoryActor | null): string {
  if (by === null) return 'by the service'
  const through = by.client === null ? '' : ` through ${by.client}`
  return `by ${by.account ?? 'the operator'}${through}`
}

const pathOf = (id: number) => `/diamond/${id}/history`

/**
 * Where a stone's owner sees its report with all that happened to it. For a day, and until the stone's access is changed.
 * It is told to who has shown the owner's token, and to nobody else: the link of the report page is for buyers.
 */
export const ownersLink = (links: SignedLinks, diamond: LiveDiamond): string =>
  links.signed(pathOf(diamond.id), LINK_LIFETIMES.oneDay, pageLinkRevision(diamond))

export const readOwnersPage = endpoint({
  operationId: 'readOwnersPage',
  method: 'GET',
  path: '/diamond/{id}/history',
  summary: "A diamond's report for its owner: with a timeline of what happened to it, prices and names included.",
  auth: publicAccess,
  pathParameters: { id: DIAMOND_ID },
  query: z.object({
    signature: z
      .string()
      .optional()
      .describe("What the owner's link is signed with: it stands in Link of the history."),
  }),
  responses: {
    200: { description: 'The page', mediaType: 'text/html' },
    400: 'The signature stands twice, or its name is mistyped',
    404: 'There is no such diamond, or the signature is not good',
    410: 'The link was good for a day, which is over',
  },
  group: reportPagesGroup,
  async handler({ params, search, target }, { report: { links, store, people } }: ReportServices) {
    const id = /^[1-9]\d{0,15}$/.test(params.id) ? Number(params.id) : 0
    const opened = links.verify(pathOf(id), parseSignature(search))
    if (opened === undefined) throw unknownPage()
    if (opened.isExpired)
      throw new RequestError('gone', 'This link was good for a day: read the history again for a new one')
    const past = await readDiamondHistory(store, id)
    if (!past.isLive || past.lastView === undefined || pageLinkRevision(past.lastView.diamond) !== opened.revision) {
      throw unknownPage()
    }
    return reportPageResponse(
      await ownersReport(past.lastView, past.transitions, { links, store, people }, `../${relativePrefixOf(target)}`),
    )
  },
})

/**
 * The report of a stone with all that happened to it.
 * @param up what relative addresses begin with, to where report pages are
 */
export async function ownersReport(
  view: DiamondView,
  steps: DiamondHistory['transitions'],
  { links, store, people }: Pick<ReportServices['report'], 'links' | 'store' | 'people'>,
  up: string,
): Promise<ReportPage> {
  const who = new ActorResolver(store, people)
  const newest = steps.slice(-MAX_TIMELINE_ENTRIES)
  const entries = await Promise.all(newest.map(async (step) => toHistoryEntry(step, await who.actorOf(step.event))))
  const page = reportOf(view, links, { signature: pageSignature(links, view.diamond), relativePrefix: up })
  const content = html`${page.content} ${timelineSection(entries, steps.length)}`
  return { ...page, content, head: NOTHING, isPublic: false, isOwnerView: true }
}

const unknownPage = () => new RequestError('missing', 'There is no such page')

/** Of the page that others open, and of the pictures on it. */
function pageSignature(links: SignedLinks, diamond: LiveDiamond): string {
  const link = new URL(
    links.signed(`/diamond/${diamond.id}`, LINK_LIFETIMES.untilAccessChanges, pageLinkRevision(diamond)),
  )
  return link.searchParams.get('signature') ?? ''
}
