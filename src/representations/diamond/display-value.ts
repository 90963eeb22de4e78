import { FIELDS, type FieldName } from '../../domain/diamond/fields.ts'
import { PATH_LINKS } from '../json.ts'
import { diamondJson, type DiamondRepresentation } from './diamond-json.ts'
import { FIELD_DESCRIPTIONS, type FieldDescription } from './field-descriptions.ts'

type BodyMembers = Readonly<Record<string, unknown>>

/** A value of a v4 body in words: a report by its laboratory and number, scores by one figure each; `-` is nothing. */
function valueText(value: unknown): string {
  if (value === null) return '-'
  if (typeof value !== 'object') return String(value)
  const members = value as BodyMembers
  if ('laboratory' in members) return `${String(members['laboratory'])} ${reportText(members)}`
  const scores = Object.entries(members).flatMap(([name, score]) => scoreText(name, score))
  return scores.length > 0 ? scores.join(', ') : JSON.stringify(value)
}

const reportText = ({ number, file, warnings }: BodyMembers) =>
  [
    number === null ? 'without a number' : String(number),
    file === null ? 'no file' : 'with its file',
    ...(Array.isArray(warnings) ? warnings.map(String) : []),
  ].join(', ')

/** The one figure of a score that stands for it. */
function scoreText(name: string, score: unknown): string[] {
  if (typeof score !== 'object' || score === null) return []
  const figure = (score as BodyMembers)['val'] ?? (score as BodyMembers)['ct'] ?? (score as BodyMembers)['n']
  return typeof figure === 'number' ? [`${name} ${figure}`] : []
}

/** What people call a member of a v4 body, where the report page has no label for it. */
const BESIDE: Readonly<Record<string, string>> = {
  access: 'Access',
  certifications: 'Certificate',
  dataAccess: 'Access to data',
  isColored: 'Coloured',
  model: '3D model',
  price: 'Price',
  scores: 'Scores',
}

/** A member of a v4 body as people read it. */
export function fieldDisplayName(field: string): string {
  const words: FieldDescription | undefined = isField(field) ? FIELD_DESCRIPTIONS[field] : undefined
  return words?.label ?? BESIDE[field] ?? field
}

const isField = (name: string): name is FieldName => Object.hasOwn(FIELDS, name)

/** By what v4 shows of a level. */
const LEVELS: Readonly<Record<string, readonly string[]>> = {
  access: ['Restricted', 'Unlisted', 'Public'],
  dataAccess: ['Hide all design data', 'Hide model and reports', 'Show all'],
}

/** A value of a v4 body as people read it; `-` is nothing. */
export function fieldDisplayValue(field: string, value: unknown): string {
  if (field === 'isLabGrown' && typeof value === 'boolean') return value ? 'Laboratory-grown' : 'Natural'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return LEVELS[field]?.[Number(value ?? NaN)] ?? valueText(value)
}

/** A diamond's v4 body as a value. Links in it are paths, without address and signature. */
export const diamondBody = (shown: DiamondRepresentation): Readonly<Record<string, unknown>> =>
  JSON.parse(diamondJson('v4', shown, PATH_LINKS)) as Readonly<Record<string, unknown>>
