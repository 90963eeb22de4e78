import { fileRevision, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import { modelWarnings } from '../../domain/diamond/stone-model.ts'
import { LASTS } from '../../representations/json.ts'
import { modelPath } from '../../representations/stone-model.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import type { Links } from '../kit/links.ts'
import { warningMark } from './warning.ts'

/** The stone's own 3D file where the owner shows all: dataAccess 1 hides model and reports. Its link opens for a day and ends as a PDF's does. */
export function modelSection(diamond: LiveDiamond, links: Links): Html {
  const { id, model, fields } = diamond
  if (model === undefined || fields.dataAccess !== 2) return NOTHING
  const { format, facets, file } = model
  const warnings = modelWarnings(model, fields)
  return html`<section>
    <h2>3D file</h2>
    <ul>
      <li>
        <a href="${links.signed(modelPath(id), LASTS.aDay, fileRevision(diamond))}"
          >This stone as a 3D file, ${format}</a
        >
        <span class="soft">${facets.toLocaleString('en')} facets, ${sizeText(file.bytes)}</span>
        ${warnings.length === 0 ? NOTHING : warningMark(warnings)}
      </li>
    </ul>
  </section>`
}

/** In thousands of bytes, or millions. */
const sizeText = (bytes: number): string =>
  bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} KB` : `${(bytes / 1e6).toFixed(1)} MB`
