import { FIELDS, type FieldName } from '../../domain/diamond/fields.ts'
import type { FieldDefinition } from '../../domain/diamond/field.ts'
import { topLevelShapes } from '../../domain/dictionaries/shapes.ts'

/** The values of a field with a dictionary, as shown in v4; none for other fields. */
export function valuesOf(name: FieldName): readonly string[] {
  const field: FieldDefinition = FIELDS[name]
  if (field.kind === 'shape') return topLevelShapes().map(({ title }) => title)
  return field.kind === 'entry' ? field.dictionary.all.map((entry) => entry[field.shown]) : []
}
