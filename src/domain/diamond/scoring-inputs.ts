import type { DiamondEvent } from './diamond.ts'
import type { FieldName } from './fields.ts'

/** What scores are computed from. */
export const SCORING_INPUTS: ReadonlySet<FieldName> = new Set<FieldName>([
  'cutShape',
  'carat',
  'cutQuality',
  'polish',
  'symmetry',
  'fluorIntensity',
  'fluorColor',
  'culetSize',
  'girdle',
])

/** True when scores computed before this event no longer describe the stone. */
export function touchesScores(event: DiamondEvent): boolean {
  if (event.type === 'DiamondCreated') return true
  if (event.type !== 'DiamondPatched') return false
  const names = [...Object.keys(event.data.set), ...event.data.removed] as FieldName[]
  return names.some((name) => SCORING_INPUTS.has(name))
}
