import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { Scores } from '../../domain/diamond/scores.ts'
import { SIGNED, withLinks } from '../links.ts'
import { bodyText } from './body.ts'

/** A diamond's v4 body as a value. Links in it are paths, without address and signature. */
export const bodyValue = (diamond: LiveDiamond, scores: Scores | null): Readonly<Record<string, unknown>> =>
  JSON.parse(withLinks(bodyText('v4', diamond, scores), pathOf)) as Readonly<Record<string, unknown>>

const pathOf = (stored: string) => stored.split(SIGNED, 1)[0] ?? ''
