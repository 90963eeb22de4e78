import { html, type Html } from '../kit/html.ts'

/** What of the owner's papers contradicts the stone, as a page marks it. @param warnings sentences without their full stops */
export const warningMark = (warnings: readonly string[]): Html =>
  html`<strong class="warning">&#9888; ${warnings.join('. ')}.</strong>`
