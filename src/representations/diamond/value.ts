import { PATHS } from '../links.ts'
import { bodyText, type ShownDiamond } from './body.ts'

/** A diamond's v4 body as a value. Links in it are paths, without address and signature. */
export const bodyValue = (shown: ShownDiamond): Readonly<Record<string, unknown>> =>
  JSON.parse(bodyText('v4', shown, PATHS)) as Readonly<Record<string, unknown>>
