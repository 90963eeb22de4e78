import { FIELDS, type FieldName } from '../../domain/diamond/fields.ts'
import { valueText } from '../value-text.ts'
import { WORDS, type Words } from './words.ts'

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
export function toldName(field: string): string {
  const words: Words | undefined = isField(field) ? WORDS[field] : undefined
  return words?.label ?? BESIDE[field] ?? field
}

const isField = (name: string): name is FieldName => Object.hasOwn(FIELDS, name)

/** By what v4 shows of a level. */
const LEVELS: Readonly<Record<string, readonly string[]>> = {
  access: ['Restricted', 'Unlisted', 'Public'],
  dataAccess: ['Hide all design data', 'Hide model and reports', 'Show all'],
}

/** A value of a v4 body as people read it; `-` is nothing. */
export function toldValue(field: string, value: unknown): string {
  if (field === 'isLabGrown' && typeof value === 'boolean') return value ? 'Laboratory-grown' : 'Natural'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return LEVELS[field]?.[Number(value ?? NaN)] ?? valueText(value)
}
