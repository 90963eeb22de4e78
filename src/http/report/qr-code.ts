import { correction, generate } from 'lean-qr'
import { toSvgPath } from 'lean-qr/extras/svg'
import { html, type Html } from '../kit/html.ts'

/** Modules of white around the code, without which readers do not find it (ISO/IEC 18004). */
const QUIET = 4

/**
 * A text as a QR code that bears a stain of 15 % of it: black on white in every colour scheme, since readers want it so.
 * @param text up to 2,331 bytes, else an error is thrown
 * @param said what the code leads to, for who does not see it
 */
export function qrCode(text: string, said: string): Html {
  const code = generate(text, { minCorrectionLevel: correction.M })
  const side = String(code.size + 2 * QUIET)
  return html`<svg
    class="qr"
    viewBox="${String(-QUIET)} ${String(-QUIET)} ${side} ${side}"
    shape-rendering="crispEdges"
    role="img"
    aria-label="${said}"
  >
    <path fill="#fff" d="M${String(-QUIET)} ${String(-QUIET)}h${side}v${side}h-${side}z" />
    <path fill="#000" d="${toSvgPath(code)}" />
  </svg>`
}
