import { fieldDisplayName } from '../representations/diamond/display-value.ts'
import { FIELD_DESCRIPTIONS, type FieldDescription } from '../representations/diamond/field-descriptions.ts'
import type { FieldName } from '../domain/diamond/fields.ts'
import type { ColumnContent } from './columns.ts'

/** Contents that are no fields, and fields that share their label with others on the report page. */
const NAMES = {
  fancyGrade: 'Fancy colour intensity',
  colorModifier: 'Fancy colour overtone',
  colorHue: 'Fancy colour',
  fluorIntensity: 'Fluorescence',
  fluorColor: 'Fluorescence colour',
  measurements: 'Measurements',
  availability: 'Availability',
  pieces: 'Number of stones',
  growthType: 'Origin, compared',
  treatment: 'Treatment',
  'certification.laboratory': 'Laboratory',
  'certification.number': 'Report number',
} satisfies Partial<Record<ColumnContent, string>> & Record<Exclude<ColumnContent, FieldName>, string>

/** The name of a column's content for people: a field's label, or its usual heading. */
export function contentName(content: ColumnContent): string {
  if (isNamed(content)) return NAMES[content]
  const { headings = [] }: FieldDescription = FIELD_DESCRIPTIONS[content]
  const label = fieldDisplayName(content)
  return label === content ? (headings[0] ?? label) : label
}

const isNamed = (content: ColumnContent): content is keyof typeof NAMES => Object.hasOwn(NAMES, content)
