import type { By, Change, Entry } from '../../projections/history/entry.ts'
import { titleOf } from '../../projections/history/diamond.ts'
import { toldName, toldValue } from '../../representations/diamond/value.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'

/** Entries that a page shows at most: a stone that a program reprices every hour has thousands. */
export const SHOWN = 50

/**
 * What happened to a stone, for its owner alone.
 * @param entries the newest ones, oldest first
 * @param total how many there are
 */
export function timelineSection(entries: readonly Entry[], total: number): Html {
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
