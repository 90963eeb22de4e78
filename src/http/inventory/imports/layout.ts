import { html, type Html } from '../../kit/html.ts'
import { sourceHash, type Page } from '../../kit/page.ts'
import type { HttpResponse } from '../../kit/response.ts'
import { defineInventoryPages, FORMS, WIDE } from '../layout.ts'

/** Shows the progress of an upload and of an import, and accepts a file that is dropped anywhere. The pages work without it. */
const SCRIPT = `
const form = document.getElementById('upload')
if (form) {
  const input = document.getElementById('file')
  addEventListener('dragover', (event) => event.preventDefault())
  addEventListener('drop', (event) => {
    event.preventDefault()
    if (event.dataTransfer.files.length > 0) input.files = event.dataTransfer.files
  })
  const send = form.querySelector('button')
  form.addEventListener('submit', () => {
    send.disabled = true
    document.getElementById('uploading').textContent = 'The file is uploaded and read; a large one takes a while.'
  })
  addEventListener('pageshow', () => { send.disabled = false })
}
const showProgress = async () => {
  const progress = document.getElementById('progress')
  if (!progress) return
  try {
    const response = await fetch(location.href)
    const next = new DOMParser().parseFromString(await response.text(), 'text/html')
    const nextProgress = next.getElementById('progress')
    if (nextProgress) progress.replaceWith(nextProgress)
    else document.querySelector('main').replaceWith(next.querySelector('main'))
  } catch {
    // The service cannot be reached at the moment: try again.
  }
  setTimeout(showProgress, 1000)
}
showProgress()
`

const respond = defineInventoryPages(
  `${FORMS}${WIDE}
input[type=file]{padding:2rem 1rem;border-style:dashed;border-width:2px}
.radios{margin-bottom:1rem}
[role=status]{margin:0 0 1rem}
td select{padding:.375rem .5rem}
.choices-beside{display:flex;flex-wrap:wrap;gap:0 3rem}
.counts,.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,9rem),1fr));gap:.75rem;margin:1rem 0;padding:0;list-style:none}
.counts div{padding:.75rem 1rem;background:var(--well);border:1px solid var(--line);border-radius:.75rem}
.counts dd{font-size:1.5rem;font-weight:600;font-variant-numeric:tabular-nums}
.cards{grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr))}
.cards li{padding:.75rem 1rem;border:1px solid var(--line);border-radius:.75rem}
.cards h3{margin:0 0 .375rem;font-size:1.0625rem;overflow-wrap:anywhere}
.cards dl{margin:0}
.cards dl div{display:flex;justify-content:space-between;gap:1rem}
.cards dd{text-align:right}
progress{width:100%;height:1.25rem;accent-color:var(--deed)}
button:disabled{opacity:.6;cursor:progress}
`,
  { 'script-src': sourceHash(SCRIPT), 'connect-src': "'self'" },
)

/** A page with the script. */
export const importPage = ({ content, ...page }: Page): HttpResponse =>
  respond({ ...page, content: html`${content} ${ELEMENT}` })

const ELEMENT: Html = { html: `<script>${SCRIPT}</script>` }
