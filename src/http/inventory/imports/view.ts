import type { StoredReading } from '../../../commands/imports/understand.ts'
import {
  isAtWork,
  isUnapplied,
  isUndoable,
  type ImportCounts,
  type StockImport,
} from '../../../domain/imports/stock-import.ts'
import { fieldDisplayValue } from '../../../representations/diamond/display-value.ts'
import { contentName } from '../../../trade-files/content-names.ts'
import type { ColumnContent } from '../../../trade-files/columns.ts'
import { attribute, html, NOTHING, option, type Html } from '../../kit/html.ts'
import { timeOf } from '../../kit/page.ts'
import { actionButton } from '../forms.ts'
import { countText, plural } from '../count-text.ts'
import { dataTable } from '../data-table.ts'
import { controlsOf, modeOf, type Control, type ImportControls } from './controls.ts'

/** An import with what was understood of its file. `done` is the number of stones written or restored so far. */
type ShownImport = { readonly stockImport: StockImport; readonly reading: StoredReading; readonly done: number }

/** Names of the buttons of the form of an import. */
export const ACTIONS = ['read', 'ignore', 'apply', 'undo', 'delete'] as const
export type ImportAction = (typeof ACTIONS)[number]

const button = (action: ImportAction, text: string, attributes?: Html): Html => actionButton(action, text, attributes)

const QUIET: Html = { html: 'class="quiet" formnovalidate' }

/** The page of an import, without its title. */
export function importView(shown: ShownImport): Html {
  const { stockImport, reading } = shown
  if (isAtWork(stockImport)) return progressView(shown)
  if (isUnapplied(stockImport)) return unappliedView(stockImport, reading)
  return endView(stockImport)
}

const stateText = ({ state, counts, undoCounts, why }: StockImport): string => {
  switch (state) {
    case 'asking':
      return 'Has questions'
    case 'invalid':
      return 'Has errors'
    case 'ready':
      return 'Ready to import'
    case 'applying':
      return 'Is being written'
    case 'applied':
      return `Imported: ${counts === undefined ? '' : countsText(counts)}`
    case 'undoing':
      return 'Is being undone'
    case 'undone':
      return `Undone: ${stones(undoCounts?.restored ?? 0)} restored`
    case 'failed':
      return `Failed. ${why ?? ''}`
  }
}

const stones = (count: number): string => plural(count, 'stone', 'stones')

/** `298 created, 2 changed, 290 reports attached`; without those that are 0 */
function countsText({ created, changed, unchanged, deleted, certifications }: ImportCounts): string {
  const parts = [
    created > 0 && `${stones(created)} created`,
    changed > 0 && `${countText(changed)} changed`,
    deleted > 0 && `${countText(deleted)} deleted`,
    unchanged > 0 && `${countText(unchanged)} unchanged`,
    certifications > 0 && plural(certifications, 'report attached', 'reports attached'),
  ].filter((part) => part !== false)
  return parts.length === 0 ? 'nothing to change' : parts.join(', ')
}

function progressView({ stockImport: { state, run }, done }: ShownImport): Html {
  const total = run?.total ?? 0
  const text = `${countText(done)} of ${stones(total)} ${state === 'applying' ? 'written' : 'restored'}`
  return html`<div id="progress">
      <label for="bar">${text}</label>
      <progress id="bar" value="${String(done)}" max="${String(Math.max(total, 1))}"></progress>
    </div>
    <p class="soft">It goes on if you leave this page. <a href="">Reload</a> to see how far it is.</p>`
}

function endView(stockImport: StockImport): Html {
  const { why, undoCounts, state, at } = stockImport
  const left = undoCounts?.left ?? 0
  return html`<p role="status">${stateText(stockImport)}.</p>
    ${left > 0 ? html`<p>${stones(left)} stayed as they are, since they were changed or deleted after the import.</p>` : NOTHING}
    ${why === undefined || state === 'failed' ? NOTHING : html`<p class="alert" role="alert">It was not undone: ${why}.</p>`}
    <p class="soft">Uploaded ${timeOf(at)}.</p>
    ${isUndoable(stockImport) ? UNDO : NOTHING}
    <form method="post">${button('delete', 'Remove from the list', QUIET)}</form>`
}

/** Collapsed, to prevent an undo by accident; works without scripts. */
const UNDO = html`<details>
  <summary>Undo this import</summary>
  <p>Stones that it created are deleted, and those that it changed or deleted are as they were before.</p>
  <form method="post">
    <label class="check">
      <input type="checkbox" name="skipChanged" value="1" /> Leave stones as they are that were changed since
    </label>
    ${button('undo', 'Undo the import', { html: 'class="danger"' })}
  </form>
</details>`

function unappliedView(stockImport: StockImport, reading: StoredReading): Html {
  const controls = controlsOf(reading, stockImport.options)
  return html`<p role="status">${unappliedStatus(stockImport, reading, controls.questions.length)}</p>
    <form method="post">
      <input type="hidden" name="reading" value="${stockImport.reading.digest}" />
      ${stockImport.state === 'ready' ? readySection(reading) : NOTHING}
      ${controls.questions.length === 0 ? NOTHING : questionsSection(controls.questions)}
      ${reading.errorCount === 0 ? controls.badLines.map(fieldOf) : errorsSection(reading, controls)}
      ${reading.first.length === 0 ? NOTHING : firstStones(reading)} ${columnsSection(reading, controls)}
      <h2>How the file is read</h2>
      <div class="choices-beside">${controls.others.map(fieldOf)}</div>
      ${remarksSection(reading)}
      <div class="deeds">
        ${button('read', 'Read the file again', QUIET)} ${button('delete', 'Discard the file', QUIET)}
      </div>
    </form>`
}

function unappliedStatus(
  { state }: StockImport,
  { rows, badLines, errorCount }: StoredReading,
  questionCount: number,
): string {
  if (state === 'asking')
    return `${plural(questionCount, 'question', 'questions')} must be answered before the file can be read. Nothing is imported yet.`
  if (state === 'invalid')
    return `${plural(badLines, 'line has', 'lines have')} ${plural(errorCount, 'error', 'errors')}; the file has ${plural(rows, 'line', 'lines')}. Nothing is imported yet.`
  return `The file can be imported. It has ${plural(rows, 'line', 'lines')}. Nothing is imported yet.`
}

const readySection = ({ would }: StoredReading): Html =>
  html`<dl class="counts">
      ${COUNTS.map(
        ([name, label]) =>
          html`<div>
            <dt>${label}</dt>
            <dd>${countText(would[name])}</dd>
          </div>`,
      )}
    </dl>
    ${button('apply', importText(would))}`

/** `Import: create 298 stones, change 2` */
function importText({ created, changed, deleted }: ImportCounts): string {
  const parts = [
    created > 0 && `create ${stones(created)}`,
    changed > 0 && `change ${countText(changed)}`,
    deleted > 0 && `delete ${countText(deleted)}`,
  ].filter((part) => part !== false)
  return parts.length === 0 ? 'Import: change nothing' : `Import: ${parts.join(', ')}`
}

const COUNTS: readonly (readonly [keyof ImportCounts, string])[] = [
  ['created', 'New stones'],
  ['changed', 'Changed'],
  ['unchanged', 'Unchanged'],
  ['deleted', 'Deleted'],
  ['certifications', 'Reports attached'],
]

const questionsSection = (questions: readonly Control[]): Html =>
  html`<h2>Questions</h2>
    ${questions.map(fieldOf)}
    <div class="deeds">
      ${button('read', 'Continue')} ${button('ignore', 'Ignore the columns without an answer', QUIET)}
    </div>`

/** Few alternatives are radio buttons, many a list. */
function fieldOf(control: Control): Html {
  const { label, alternatives } = control
  if (alternatives.length > MAX_RADIOS)
    return html`<div>
      <label for="${control.name}">${label}</label>
      ${selectOf(control)}
    </div>`
  return html`<fieldset class="radios">
    <legend>${label}</legend>
    ${alternatives.map((alternative, index) => radio(control, alternative.label, index))}
  </fieldset>`
}

const MAX_RADIOS = 4

function radio({ name, selected }: Control, label: string, index: number): Html {
  const checked = attribute('checked', index === selected)
  const required = attribute('required', selected === undefined)
  return html`<label class="check">
    <input type="radio" name="${name}" value="${String(index)}" ${checked} ${required} /> ${label}
  </label>`
}

/** @param label for a list without a label element */
function selectOf({ name, alternatives, selected, unchanged }: Control, label?: string): Html {
  const first = unchanged ?? (selected === undefined ? 'Choose …' : undefined)
  const isRequired = unchanged === undefined && selected === undefined
  return html`<select
    name="${name}"
    ${label === undefined ? html`id="${name}"` : html`aria-label="${label}"`}
    ${attribute('required', isRequired)}
  >
    ${first === undefined ? NOTHING : html`<option value="">${first}</option>`}
    ${alternatives.map((one, index) => option(index, one.label, index === selected))}
  </select>`
}

function errorsSection(
  { errors, errorCount, unknownValues }: StoredReading,
  { words, badLines }: ImportControls,
): Html {
  const shown = errors.slice(0, MAX_SHOWN_ERRORS)
  const areLeftOut = badLines.some(({ selected }) => selected === 1)
  return html`<h2>${areLeftOut ? 'Lines that are left out' : 'Errors'}</h2>
    ${areLeftOut ? NOTHING : html`<p>Correct them in the file and upload it again, or leave out the lines.</p>`}
    ${dataTable(
      [{ name: 'Line' }, { name: 'Column' }, { name: 'Problem' }],
      shown.map(({ line, column, message }) => [`Line ${line}`, column ?? 'Whole line', message]),
    )}
    ${shown.length < errorCount ? html`<p class="soft">These are the first ${countText(shown.length)} of ${countText(errorCount)}.</p>` : NOTHING}
    ${
      words.length === 0
        ? NOTHING
        : html`<h3>Texts that are no values</h3>
            <p class="soft">Choose what they mean; it holds for all lines.</p>
            ${dataTable(
              [{ name: 'Text' }, { name: 'Column' }, { name: 'Lines', isNumber: true }, { name: 'Meaning' }],
              unknownValues.map(({ text, column, lines }, index) => [
                text,
                column,
                countText(lines),
                wordSelect(words[index]),
              ]),
            )}`
    }
    ${badLines.map(fieldOf)}
    <div class="deeds">${button('read', 'Continue')}</div>`
}

const wordSelect = (control: Control | undefined): Html =>
  control === undefined ? NOTHING : selectOf(control, control.label)

const MAX_SHOWN_ERRORS = 200

const firstStones = ({ first }: StoredReading): Html =>
  html`<h2>The first stones, as they are read</h2>
    <ul class="cards">
      ${first.map(card)}
    </ul>`

function card({ sku, ...fields }: StoredReading['first'][number]): Html {
  return html`<li>
    <h3>${String(sku ?? 'Without a SKU')}</h3>
    <dl>
      ${Object.entries(fields).map(
        ([name, value]) =>
          html`<div>
            <dt>${name === 'certification.file' ? 'PDF' : contentName(name as ColumnContent)}</dt>
            <dd>${fieldDisplayValue(name, value)}</dd>
          </div>`,
      )}
    </dl>
  </li>`
}

function columnsSection({ columns, format }: StoredReading, { columns: controls }: ImportControls): Html {
  if (columns.length === 0) return NOTHING
  return html`<h2>Columns</h2>
    ${format === null ? NOTHING : html`<p class="soft">${format}</p>`}
    ${dataTable(
      [{ name: 'Column' }, { name: 'Examples' }, { name: 'Meaning' }],
      columns.map((column) => {
        const control = controls.get(column)
        const examples = column.examples ?? []
        return [
          column.name,
          examples.length === 0 ? '–' : examples.join(' · '),
          control === undefined ? 'See the question above' : selectOf(control, control.label),
        ]
      }),
    )}`
}

const remarksSection = ({ remarks }: StoredReading): Html =>
  remarks.length === 0
    ? NOTHING
    : html`<h2>Remarks</h2>
        <ul>
          ${remarks.map((remark) => html`<li>${remark}</li>`)}
        </ul>`

/** The form that uploads a file, and the account's imports. @param home from `pathToRoot` */
export const uploadView = (imports: readonly StockImport[], home: string): Html =>
  html`<p>
      Choose your stock list: CSV, a workbook (.xlsx) or JSON lines, or a ZIP archive with it and the PDFs of its
      reports, named after a SKU or a report number. At most 20 MB.
    </p>
    <form id="upload" method="post" enctype="multipart/form-data">
      <div>
        <label for="file">File</label>
        <input id="file" name="file" type="file" required />
      </div>
      ${fieldOf(modeOf({ by: 'sku' }))}
      <button type="submit">Upload</button>
      <p id="uploading" class="soft">Nothing is imported yet: you see what was understood, and decide then.</p>
    </form>
    ${imports.length === 0 ? NOTHING : importsList(imports, home)}`

const importsList = (imports: readonly StockImport[], home: string): Html =>
  html`<h2>Imports of the last 30 days</h2>
    ${dataTable(
      [{ name: 'File' }, { name: 'Uploaded' }, { name: 'State' }],
      imports.map((one) => [
        html`<a href="${home}inventory/import/${one.id}">${one.name ?? 'Without a name'}</a>`,
        timeOf(one.at),
        stateText(one),
      ]),
    )}`
