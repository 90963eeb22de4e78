import { z } from 'zod'
import { Refusal } from '../../domain/decider.ts'
import { pageRevision, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { DiamondView } from '../../projections/diamonds/diamond-view.ts'
import { entryOf, readPast, titleOf, type DiamondPast } from '../../projections/history/diamond.ts'
import type { By, Change, Entry } from '../../projections/history/entry.ts'
import { Who } from '../../projections/history/who.ts'
import { toldName, toldValue } from '../../representations/diamond/value.ts'
import { LASTS } from '../../representations/json.ts'
import { DIAMOND_ID } from '../diamonds/resource.ts'
import { anybody, endpoint } from '../kit/endpoint.ts'
import { html, NOTHING, upFrom, type Html } from '../kit/html.ts'
import { signatureOf, type Links } from '../kit/links.ts'
import { pageAnswer, reportFamily, type Page } from './layout.ts'
import { reportOf } from './page.ts'
import type { ReportServices } from './report.ts'

/** Entries that a page shows at most: a stone that a program reprices every hour has thousands. */
const SHOWN = 50

/**
 * What happened to a stone, for its owner alone.
 * @param entries the newest ones, oldest first
 * @param total how many there are
 */
function timelineSection(entries: readonly Entry[], total: number): Html {
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

const item = (entry: Entry): Html =>
  html`<li>
    <p>
      <time datetime="${entry.at}">${entry.at.slice(0, 19).replace('T', ' ')} UTC</time>
      <strong>${titleOf(entry.type)}</strong> <span class="soft">${whoText(entry.by)}</span>
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

function changeItem({ field, from, to }: Change): Html {
  const [name, was, is] = [toldName(field), toldValue(field, from), toldValue(field, to)]
  if (from === null) return html`<li>${name}: ${is}</li>`
  if (to === null) return html`<li>${name}: no longer ${was}</li>`
  return html`<li>${name}: from ${was} to ${is}</li>`
}

function whoText(by: By | null): string {
  if (by === null) return 'by the service'
  const through = by.client === null ? '' : ` through ${by.client}`
  return `by ${by.account ?? 'the operator'}${through}`
}

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
