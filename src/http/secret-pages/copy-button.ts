import { html, type Html } from '../kit/html.ts'

/** The button stays hidden where no script runs. @param what is copied */
export const copyButton = (what: string): Html =>
  html`<button id="copy" type="button" class="quiet" hidden>Copy ${what}</button>
    <p id="copied" role="status" class="soft"></p>`

/**
 * The pages' only script: shows the copy button and lets it copy. Without it, the text can be selected. Its hash stands in
 * the Content-Security-Policy.
 */
export const COPY_SCRIPT = `
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
    // The browser does not let pages copy, or has no such thing: the older way.
    getSelection().selectAllChildren(value)
    copied = document.execCommand('copy')
  }
  note.textContent = copied ? 'Copied.' : 'It is selected: copy it with your keyboard or your menu.'
})
`
