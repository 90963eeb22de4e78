import { html, type Html } from '../kit/html.ts'
import type { HttpResponse } from '../kit/response.ts'
import { CARD, CONTROLS, definePages, PRIVATE_PAGE_HEADERS, sourceHash, type Page } from '../kit/page.ts'

/** A page without links to other sites. `Referrer-Policy` keeps its address, which is a credential, out of other requests. */
export const secretPage = (page: Page): HttpResponse => respond(page)

/**
 * Copies the element `#value` before it. The button is hidden unless scripts run.
 * @param contentName the text on the button after "Copy"
 */
export const copyButton = (contentName: string): Html =>
  html`<button id="copy" type="button" class="quiet" hidden>Copy ${contentName}</button>
    <p id="copied" role="status" class="soft"></p>
    ${{ html: `<script>${COPY_SCRIPT}</script>` }}`

/** The only script. Without it, the text can be selected and copied manually. */
const COPY_SCRIPT = `
const button = document.getElementById('copy')
const value = document.getElementById('value')
const note = document.getElementById('copied')
button.hidden = false
button.addEventListener('click', async () => {
  let copied = false
  try {
    await navigator.clipboard.writeText(value.textContent)
    copied = true
  } catch {
    // The Clipboard API is missing or denied: fall back to execCommand.
    getSelection().selectAllChildren(value)
    copied = document.execCommand('copy')
  }
  note.textContent = copied ? 'Copied.' : 'Copying failed. The text is selected: copy it with the keyboard or the menu.'
})
`

const respond = definePages({
  style: `${CARD}${CONTROLS}
[role=status]:empty{display:none}
pre{margin:0;padding:1rem;max-height:60vh;overflow:auto;background:var(--well);border:1px solid var(--line);border-radius:var(--radius);font:1rem/1.5 var(--mono);white-space:pre-wrap;overflow-wrap:anywhere;user-select:all}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.375rem 1.25rem;margin:0 0 1rem}
summary{color:var(--danger)}
details{margin-top:1.5rem;border-top:1px solid var(--line)}
@media (max-width:26rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.625rem}}
`,
  policy: { 'script-src': sourceHash(COPY_SCRIPT), 'form-action': "'self'" },
  headers: PRIVATE_PAGE_HEADERS,
})

/** An input without autocomplete, spell-checking and automatic capitals. */
export const passphraseInput = (label: string): Html =>
  html`<label for="passphrase">${label}</label>
    <input
      id="passphrase"
      name="passphrase"
      type="password"
      required
      autocomplete="off"
      autocapitalize="none"
      spellcheck="false"
    />`
