import { filePath } from '../../domain/certification/render.ts'
import { reportPage } from '../../domain/certification/report-page.ts'
import type { Certification } from '../../domain/certification/certification.ts'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import { html, NOTHING, type Html } from '../html.ts'
import type { Links } from '../links.ts'

/** Laboratories for everybody; numbers, links and files only where dataAccess shows all. */
export function certificatesSection({ certifications, fields }: LiveDiamond, links: Links): Html {
  if (certifications.length === 0) return NOTHING
  const entry = fields.dataAccess === 2 ? (one: Certification) => fullEntry(one, links) : bareEntry
  return html`<section>
    <h2>Certificates</h2>
    <ul>
      ${certifications.map(entry)}
    </ul>
  </section>`
}

const bareEntry = ({ laboratory }: Certification): Html => html`<li>${laboratory}</li>`

function fullEntry({ id, laboratory, number, file }: Certification, links: Links): Html {
  const page = reportPage(laboratory, number)
  const named = number === null ? laboratory : `${laboratory} ${number}`
  const path = filePath(id)
  return html`<li>
    ${page === null ? html`${named}` : html`<a href="${page}" rel="noreferrer">${named} at the laboratory</a>`}
    ${
      file === null
        ? NOTHING
        : html`<a href="${links.address}${path}?signature=${links.signature(path)}"
            >Report ${number ?? laboratory}, PDF</a
          >`
    }
  </li>`
}
