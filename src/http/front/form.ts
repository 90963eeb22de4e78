import { html, NOTHING, type Html } from '../kit/html.ts'

/** What was typed before, so that a mistake costs nobody their text. Passphrase and token are typed again. */
export type Typed = { readonly secret: string; readonly email: string; readonly ttl?: number | undefined }

const NOTHING_TYPED: Typed = { secret: '', email: '' }

const LIVES = [
  [3_600, 'an hour'],
  [86_400, 'a day'],
  [604_800, 'a week'],
  [2_592_000, '30 days'],
] as const

/** Seconds of the one that is chosen before anybody chooses. */
const USUAL = 604_800

/**
 * The form that shares a secret.
 * @param isOpen whether it needs no account
 * @param action relative, as a proxy may add a path
 */
export const shareForm = (isOpen: boolean, action: string, typed: Typed = NOTHING_TYPED): Html =>
  html`<form method="post" action="${action}">
    <div>
      <label for="secret">The secret</label>
      ${box(typed.secret)}
    </div>
    <div>
      <label for="passphrase"
        >Passphrase <span class="soft">(optional; tell it to the reader by another way)</span></label
      >
      <input id="passphrase" name="passphrase" type="password" autocomplete="new-password" autocapitalize="none" />
    </div>
    <div>
      <label for="ttl">Deleted unread after</label>
      <select id="ttl" name="ttl">
        ${LIVES.map(([seconds, name]) => life(seconds, name, typed.ttl ?? USUAL))}
      </select>
    </div>
    ${isOpen ? NOTHING : credentials(typed)}
    <button type="submit">Make a link that opens once</button>
  </form>`

/** Browsers drop a line feed right behind the opening tag: one that is put there, and none that was typed. */
const box = (typed: string): Html => {
  const text = `\n${typed}`
  return html`<textarea id="secret" name="secret" required spellcheck="false" autocomplete="off">${text}</textarea>`
}

const life = (seconds: number, name: string, chosen: number): Html =>
  html`<option value="${String(seconds)}" ${seconds === chosen ? SELECTED : NOTHING}>${name}</option>`

const SELECTED: Html = { html: 'selected' }

const credentials = ({ email }: Typed): Html =>
  html`<div>
      <label for="email">Your e-mail address</label>
      <input id="email" name="email" type="email" required autocomplete="username" value="${email}" />
    </div>
    <div>
      <label for="token">Your API token</label>
      <input id="token" name="token" type="password" required autocomplete="current-password" autocapitalize="none" />
      <p class="soft">The operator gives it to you: <code>npx adamant token add</code>.</p>
    </div>`
