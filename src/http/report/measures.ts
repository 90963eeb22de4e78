import type { MeasuredProportions } from '../../domain/certification/measured.ts'
import type { Fact } from '../../representations/diamond/facts.ts'

type Percent = Exclude<keyof MeasuredProportions, 'size'>

/** In the order in which reports have them. */
const MEASURES: readonly (readonly [name: Percent, label: string, unit: string])[] = [
  ['table', 'Table', ' %'],
  ['depth', 'Depth', ' %'],
  ['crownAngle', 'Crown angle', '°'],
  ['pavilionAngle', 'Pavilion angle', '°'],
  ['girdle', 'Girdle', ' %'],
  ['star', 'Star length', ' %'],
  ['lower', 'Lower halves', ' %'],
]

/** What a laboratory measured, as its report has it; what it does not say is not said. */
export function measuredFacts(measured: MeasuredProportions): readonly Fact[] {
  const { size } = measured
  return [
    ...(size === undefined
      ? []
      : [['Measurements', `${[size.length, size.width, size.depth].map(mm).join(' × ')} mm`] as const]),
    ...MEASURES.flatMap(([name, label, unit]) => {
      const value = measured[name]
      return value === undefined ? [] : [[label, `${value}${unit}`] as const]
    }),
  ]
}

/** `5.70` */
export const mm = (length: number): string => length.toFixed(2)
