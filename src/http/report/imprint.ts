import { DateTime } from 'luxon'
import type { Scores } from '../../domain/diamond/scores.ts'
import { revisionText, type DiamondView } from '../../projections/diamonds/diamond-view.ts'
import { OPTICS_VERSION } from '../../domain/scoring/version.ts'
import { html, type Html } from '../kit/html.ts'
import type { Links } from '../kit/links.ts'
import type { Opening } from './opening.ts'
import { qrCode } from './qr-code.ts'

/**
 * What makes a print a document: its number, which names the stone and its state (the same number, the same content), the day
 * of that state, who issues it, and where it can be looked up, as a text and for a camera. The service's name stands for
 * its owner's: a page tells nothing of the owner.
 */
export function imprint(view: DiamondView, scores: Scores | null, { address }: Links, { signature }: Opening): Html {
  const { id } = view.diamond
  const day = DateTime.fromMillis(view.changedAt, { zone: 'utc' }).toISODate() ?? ''
  const query = signature === '' ? '' : `?signature=${encodeURIComponent(signature)}`
  const page = `${address}/diamond/${id}${query}`
  return html`<footer class="soft">
    <div>
      <p>
        Report ${`${id}-${revisionText(view)}`} of ${day}, issued by Adamant at ${new URL(address).host}. Scores by
        model ${scores?.brilliance?.ver ?? OPTICS_VERSION}. This is no laboratory's report.
      </p>
      <p class="address">${page}</p>
    </div>
    ${qrCode(page, "This page's address as a QR code")}
  </footer>`
}
