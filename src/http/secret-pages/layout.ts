import type { HttpResponse } from '../kit/response.ts'
import { escape, html, type Html } from '../kit/html.ts'
import { GEM, htmlDocument, sourceHash } from '../kit/page.ts'

export const STYLE = `
:root{color-scheme:light dark;--ink:#17202e;--soft:#55617a;--paper:#fff;--ground:#eef1f7;--line:#d5dbe7;--deed:#1d4ed8;--deed-ink:#fff;--danger:#b42318;--well:#f5f7fb}
@media (prefers-color-scheme:dark){:root{--ink:#e8ecf4;--soft:#a7b2c8;--paper:#171e2b;--ground:#0d121b;--line:#364159;--deed:#8cb0ff;--deed-ink:#0b1530;--danger:#ff9d92;--well:#0f1521}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:start center;padding:clamp(1rem,6vh,5rem) 1rem;background:var(--ground);color:var(--ink);font:1.0625rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:36rem;padding:clamp(1.25rem,5vw,2.5rem);background:var(--paper);border:1px solid var(--line);border-radius:1rem;box-shadow:0 1px 2px rgb(16 24 40/.06),0 12px 32px rgb(16 24 40/.07)}
svg{display:block;width:2.25rem;height:2.25rem;margin-bottom:1rem;color:var(--deed)}
h1{margin:0 0 .75rem;font-size:1.625rem;line-height:1.25;letter-spacing:-.01em;text-wrap:balance}
h2{margin:2rem 0 .5rem;font-size:1.125rem}
p{margin:0 0 1rem}
main>p:last-child{margin-bottom:0}
time{white-space:nowrap}
[role=status]:empty{display:none}
.soft{color:var(--soft);font-size:.9375rem}
label{display:block;margin-bottom:.25rem;font-weight:600}
input{width:100%;padding:.75rem;font:inherit;color:inherit;background:var(--well);border:1px solid var(--soft);border-radius:.5rem}
button,summary{font:inherit;font-weight:600;cursor:pointer}
button{min-height:3rem;margin:1rem 0;padding:.625rem 1.25rem;color:var(--deed-ink);background:var(--deed);border:0;border-radius:.5rem}
button.quiet{color:var(--deed);background:none;border:1px solid currentColor}
button.danger{color:var(--danger);background:none;border:1px solid currentColor}
button[hidden]{display:none}
:focus-visible{outline:3px solid var(--deed);outline-offset:2px}
pre{margin:0;padding:1rem;max-height:60vh;overflow:auto;background:var(--well);border:1px solid var(--line);border-radius:.5rem;font:1rem/1.5 ui-monospace,"Cascadia Mono",Menlo,Consolas,monospace;white-space:pre-wrap;overflow-wrap:anywhere;user-select:all}
.alert{padding:.75rem 1rem;color:var(--danger);border:1px solid currentColor;border-radius:.5rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.375rem 1.25rem;margin:0 0 1rem}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
summary{padding:.75rem 0;color:var(--danger)}
details{margin-top:1.5rem;border-top:1px solid var(--line)}
@media (max-width:26rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.625rem}button{width:100%}}
`

/** The button is hidden unless scripts run. @param contentName the text on the button after "Copy" */
export const copyButton = (contentName: string): Html =>
  html`<button id="copy" type="button" class="quiet" hidden>Copy ${contentName}</button>
    <p id="copied" role="status" class="soft"></p>`

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

const POLICY = [
  "default-src 'none'",
  `style-src ${sourceHash(STYLE)}`,
  `script-src ${sourceHash(COPY_SCRIPT)}`,
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The pages must not be cached, framed, indexed or sent as a referrer. */
const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex, nofollow',
}

type SecretPage = {
  readonly status: number
  readonly title: string
  readonly content: Html
  readonly hasCopyButton?: boolean
}

export const secretPageResponse = ({ status, title, content, hasCopyButton = false }: SecretPage): HttpResponse => ({
  status,
  headers: HEADERS,
  body: htmlDocument({
    title,
    style: STYLE,
    body:
      `<main>\n${GEM}\n<h1>${escape(title)}</h1>\n${content.html}\n</main>\n` +
      (hasCopyButton ? `<script>${COPY_SCRIPT}</script>\n` : ''),
  }),
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

/** Formats a time in UTC, so that sender and reader see the same. @param ms milliseconds since 1970 */
export function timeOf(ms: number): Html {
  const iso = new Date(ms).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`
}
