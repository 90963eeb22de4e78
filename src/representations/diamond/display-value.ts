import { isField } from '../../domain/diamond/fields.ts'
import { PATH_LINKS } from '../json.ts'
import { diamondJson, type DiamondRepresentation } from './diamond-json.ts'
import { FIELD_DESCRIPTIONS, type FieldDescription } from './field-descriptions.ts'

type BodyMembers = Readonly<Record<string, unknown>>

/** Formats a value of a v4 body: a certification as laboratory and number, scores with one figure each, proportions by name, null as `-`. */
function valueText(value: unknown): string {
  if (value === null) return '-'
  if (typeof value !== 'object') return String(value)
  const members = value as BodyMembers
  if ('laboratory' in members) return `${String(members['laboratory'])} ${reportText(members)}`
  if (Object.values(members).every((member) => typeof member === 'number'))
    return Object.entries(members)
      .map(([name, figure]) => `${name} ${String(figure)}`)
      .join(', ')
  const scores = Object.entries(members).flatMap(([name, score]) => scoreText(name, score))
  return scores.length > 0 ? scores.join(', ') : JSON.stringify(value)
}

const reportText = ({ number, file, warnings }: BodyMembers) =>
  [
    number === null ? 'without a number' : String(number),
    file === null ? 'no file' : 'with its file',
    ...(Array.isArray(warnings) ? warnings.map(String) : []),
  ].join(', ')

/** The main figure of a score, and the one the report page shows if it differs: `fire 0.26 (1.11 for its size)`. */
function scoreText(name: string, score: unknown): string[] {
  if (typeof score !== 'object' || score === null) return []
  const { val, ct, n, rg } = score as BodyMembers
  const figure = val ?? ct ?? n
  if (typeof figure !== 'number') return []
  return [typeof rg === 'number' && rg !== figure ? `${name} ${figure} (${rg} for its size)` : `${name} ${figure}`]
}

/** Display names of v4 members that have no label on the report page. */
const UNLABELLED_NAMES: Readonly<Record<string, string>> = {
  access: 'Access',
  certifications: 'Certificate',
  dataAccess: 'Access to data',
  isColored: 'Coloured',
  isPublished: 'Published',
  model: '3D model',
  price: 'Price',
  proportions: 'Proportions',
  scores: 'Scores',
}

export function fieldDisplayName(field: string): string {
  const description: FieldDescription | undefined = isField(field) ? FIELD_DESCRIPTIONS[field] : undefined
  return description?.label ?? UNLABELLED_NAMES[field] ?? field
}

/** Indexed by the level's value in v4. */
const LEVELS: Readonly<Record<string, readonly string[]>> = {
  access: ['Restricted', 'Unlisted', 'Public'],
  dataAccess: ['Hide all design data', 'Hide model and reports', 'Show all'],
}

/** The display text of a v4 member's value; `-` for null. */
export function fieldDisplayValue(field: string, value: unknown): string {
  if (field === 'isLabGrown' && typeof value === 'boolean') return value ? 'Laboratory-grown' : 'Natural'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return LEVELS[field]?.[Number(value ?? NaN)] ?? valueText(value)
}

/** A diamond's v4 body as an object. Links are paths, without origin and signature. */
export const diamondBody = (representation: DiamondRepresentation): Readonly<Record<string, unknown>> =>
  JSON.parse(diamondJson('v4', representation, PATH_LINKS)) as Readonly<Record<string, unknown>>
