import { contradictionTexts } from '../../domain/certification/contradictions.ts'
import { reportPage } from '../../domain/certification/report-page.ts'
import type { Certification } from '../../domain/certification/certification.ts'
import { fileRevision, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import type { Links } from '../kit/links.ts'
import { filePath } from '../../representations/certification.ts'
import { LASTS } from '../../representations/json.ts'
import { warningMark } from './warning.ts'

/**
 * Laboratories for everybody; numbers, links and files only where dataAccess shows all. A report that contradicts the
 * stone is marked as such wherever it is named, and told apart where it is shown.
 */
export function certificatesSection(diamond: LiveDiamond, links: Links): Html {
  const { certifications, fields } = diamond
  if (certifications.length === 0) return NOTHING
  const entry =
    fields.dataAccess === 2
      ? (one: Certification) => fullEntry(one, diamond, links)
      : (one: Certification) => bareEntry(one, diamond)
  return html`<section>
    <h2>Certificates</h2>
    <ul>
      ${certifications.map(entry)}
    </ul>
  </section>`
}

const bareEntry = (certification: Certification, { fields }: LiveDiamond): Html =>
  html`<li>
    ${certification.laboratory}
    ${contradictionTexts(certification, fields).length > 0 ? warningMark([CONTRADICTS]) : NOTHING}
  </li>`

const CONTRADICTS = 'The report says otherwise than this page'

function fullEntry(certification: Certification, diamond: LiveDiamond, links: Links): Html {
  const { id, laboratory, number, file } = certification
  const contradictions = contradictionTexts(certification, diamond.fields)
  const page = reportPage(laboratory, number)
  const named = number === null ? laboratory : `${laboratory} ${number}`
  return html`<li>
    ${page === null ? html`${named}` : html`<a href="${page}" rel="noreferrer">${named} at the laboratory</a>`}
    ${
      file === null
        ? NOTHING
        : html`<a href="${links.signed(filePath(id), LASTS.aDay, fileRevision(diamond))}"
            >Report ${number ?? laboratory}, PDF</a
          >`
    }
    ${contradictions.length === 0 ? NOTHING : warningMark(contradictions)}
  </li>`
}
