import { z } from 'zod'
import { parseId } from '../../domain/entity-id.ts'
import { RequestError } from '../../domain/request-error.ts'
import { pageLinkRevision, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import { proportionsOf } from '../../domain/diamond/scored-stone.ts'
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
import { DIAMOND_ID, type DiamondServices } from '../diamonds/resource.ts'
import { publicAccess, endpoint } from '../kit/endpoint.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import { pathToRoot } from '../kit/page.ts'
import { parseSignature, type SignedLinks } from '../kit/signed-links.ts'
import { embeddingLine } from './widget.ts'
import { reportPageResponse, reportPagesGroup, type ReportPage } from './layout.ts'
import { reportOf, warningNote } from './report-page.ts'

/**
 * The link to the owner's page, with the history. Valid for a day, or until the diamond's access changes. Only responses
 * authenticated by the owner's token may contain it.
 */
export const ownersLink = (links: SignedLinks, diamond: LiveDiamond): string =>
  links.signed(pathOf(diamond.id), LINK_LIFETIMES.oneDay, pageLinkRevision(diamond))

const pathOf = (id: number) => `/diamond/${id}/history`

export const readOwnersPage = endpoint({
  operationId: 'readOwnersPage',
  method: 'GET',
  path: '/diamond/{id}/history',
  summary: "Show a diamond's report page to its owner, with the history including prices and account names",
  auth: publicAccess,
  pathParameters: { id: DIAMOND_ID },
  query: z.object({
    signature: z
      .string()
      .optional()
      .describe('The signature of the link, which is in the `Link` header of the history.'),
  }),
  responses: {
    200: { description: 'The page', mediaType: 'text/html' },
    400: 'The signature is repeated, or its name is misspelt',
    404: 'No such diamond, or the signature is invalid',
    410: 'The link has expired',
  },
  group: reportPagesGroup,
  async handler({ params, querystring, originalUrl }, { diamonds }: DiamondServices) {
    const id = parseId(params.id) ?? 0
    const link = diamonds.links.verify(pathOf(id), parseSignature(querystring))
    if (link === undefined) throw unknownPage()
    if (link.isExpired) throw new RequestError('gone', 'This link has expired; read the history again for a new link')
    const history = await readDiamondHistory(diamonds.context.store, id)
    if (
      !history.isLive ||
      history.lastView === undefined ||
      pageLinkRevision(history.lastView.diamond) !== link.revision
    ) {
      throw unknownPage()
    }
    return reportPageResponse(
      await ownersReport(history.lastView, history.transitions, diamonds, pathToRoot(originalUrl)),
    )
  },
})

const unknownPage = () => new RequestError('missing', 'Page not found')

/**
 * The report page with the history.
 * @param home from `pathToRoot`
 */
export async function ownersReport(
  view: DiamondView,
  transitions: DiamondHistory['transitions'],
  { links, context, people }: DiamondServices['diamonds'],
  home: string,
): Promise<ReportPage> {
  const actorResolver = new ActorResolver(context.store, people)
  const latestTransitions = transitions.slice(-MAX_TIMELINE_ENTRIES)
  const entries = await Promise.all(
    latestTransitions.map(async (transition) =>
      toHistoryEntry(transition, await actorResolver.actorOf(transition.event)),
    ),
  )
  const page = reportOf(view, links, { signature: pageSignature(links, view.diamond), home })
  const { warnings } = proportionsOf(view.diamond)
  const content = html`${page.content} ${warnings.length === 0 ? NOTHING : unusedProportions(warnings)}
  ${embeddingSection(view.diamond, links)} ${timelineSection(entries, transitions.length)}`
  return { ...page, content, head: NOTHING, isPublic: false, isOwnerView: true }
}

const unusedProportions = (warnings: readonly string[]): Html =>
  html`<section>
    <h2>Proportions that contradict each other</h2>
    ${warningNote(warnings)}
  </section>`

const embeddingSection = (diamond: LiveDiamond, links: SignedLinks): Html =>
  html`<section>
    <h2>In your site</h2>
    <p class="soft">
      This line of HTML shows the picture, the scores and the proportions in a page of a site that the operator of this
      service has allowed (EMBED_ORIGINS).
    </p>
    <p class="address"><code>${embeddingLine(diamond, links)}</code></p>
  </section>`

/** Maximum entries on a page. A diamond that is repriced every hour has thousands. */
const MAX_TIMELINE_ENTRIES = 50

/** The signature of the report page, and of the pictures on it. */
function pageSignature(links: SignedLinks, diamond: LiveDiamond): string {
  const link = new URL(
    links.signed(`/diamond/${diamond.id}`, LINK_LIFETIMES.untilAccessChanges, pageLinkRevision(diamond)),
  )
  return link.searchParams.get('signature') ?? ''
}

/** @param entries the latest of `total` entries, oldest first */
function timelineSection(entries: readonly HistoryEntry[], total: number): Html {
  const earlierCount = total - entries.length
  return html`<section>
    <h2>History</h2>
    <p class="soft">Visible only to you, the owner. The page that others see does not include it.</p>
    <ol class="past">
      ${entries.toReversed().map(item)}
    </ol>
    ${earlierCount === 0 ? NOTHING : html`<p class="soft">${String(earlierCount)} earlier entries are available in the API.</p>`}
  </section>`
}

const item = (entry: HistoryEntry): Html =>
  html`<li>
    <p>
      <time datetime="${entry.at}">${entry.at.slice(0, 19).replace('T', ' ')} UTC</time>
      <strong>${titleOf(entry.type)}</strong> <span class="soft">${actorText(entry.by)}</span>
    </p>
    ${entry.undecoded === undefined ? NOTHING : html`<p>This entry cannot be read at the moment.</p>`}
    ${
      entry.changes.length === 0
        ? NOTHING
        : html`<ul>
            ${entry.changes.map(changeItem)}
          </ul>`
    }
  </li>`

function actorText(actor: HistoryActor | null): string {
  if (actor === null) return 'by the service'
  const clientText = actor.client === null ? '' : ` through ${actor.client}`
  return `by ${actor.account ?? 'the operator'}${clientText}`
}

function changeItem({ field, from, to }: FieldChange): Html {
  const [name, oldValue, newValue] = [
    fieldDisplayName(field),
    fieldDisplayValue(field, from),
    fieldDisplayValue(field, to),
  ]
  if (from === null) return html`<li>${name}: ${newValue}</li>`
  if (to === null) return html`<li>${name}: no longer ${oldValue}</li>`
  return html`<li>${name}: from ${oldValue} to ${newValue}</li>`
}
