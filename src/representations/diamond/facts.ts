import { FIELDS, type DiamondFields, type FieldName } from '../../domain/diamond/fields.ts'
import { shapeTitle } from '../../domain/dictionaries/shapes.ts'
import { FIELD_DESCRIPTIONS, type FieldDescription } from './field-descriptions.ts'

export type StoneFact = readonly [label: string, text: string]

/** The owner's data on a stone as labelled texts, in display order. Unset fields are omitted. */
export function factsOf(fields: DiamondFields): readonly StoneFact[] {
  const textByLabel = new Map<string, string>()
  for (const [name, { label }] of LABELLED_FIELDS) {
    const text = textOf(name, fields)
    if (text === '') continue
    const existing = textByLabel.get(label)
    textByLabel.set(label, existing === undefined ? text : existing + (SEPARATORS[label] ?? ' ') + text)
  }
  return [...textByLabel]
}

export const shapeName = ({ cutShape }: DiamondFields): string =>
  typeof cutShape === 'number' ? shapeTitle(cutShape) : cutShape

/** `1.20 ct`, `1.041 ct`: at least two decimals. */
export function caratText({ carat }: DiamondFields): string {
  const text = String(carat)
  const decimals = text.includes('e') ? 2 : (text.split('.')[1]?.length ?? 0)
  return `${decimals > 2 ? text : carat.toFixed(2)} ct`
}

/**
 * `diamond` with the qualifiers that must accompany it in headings (FTC Jewelry Guides, 16 CFR 23): fancy colour and
 * laboratory-grown.
 */
export function qualifiedName(fields: DiamondFields): string {
  const fancy = new Map(factsOf(fields)).get('Fancy colour')?.toLowerCase()
  return [fancy, fields.isLabGrown ? 'laboratory-grown' : undefined, 'diamond'].filter(Boolean).join(' ')
}

type LabelledField = readonly [name: FieldName, words: FieldDescription & { readonly label: string }]

const LABELLED_FIELDS = Object.entries(FIELD_DESCRIPTIONS).filter(
  ([, description]) => 'label' in description,
) as unknown as readonly LabelledField[]

/** Separators between the texts of one label other than a space: `Faint, Blue`, but `Fancy Brownish Yellow`. */
const SEPARATORS: Readonly<Record<string, string>> = { Fluorescence: ', ' }

/** Fields that are not formatted by their dictionary. */
const CUSTOM_FORMATTERS: { readonly [Name in FieldName]?: (fields: DiamondFields) => string } = {
  cutShape: shapeName,
  carat: caratText,
  isLabGrown: ({ isLabGrown }) => (isLabGrown ? 'Laboratory-grown' : 'Natural'),
  fluorIntensity: ({ fluorIntensity: id }) => (id === null ? '' : FIELDS.fluorIntensity.dictionary.title(id)),
  fluorColor: ({ fluorColor: id }) => fluorescenceColor(id === null ? 'None' : FIELDS.fluorColor.dictionary.title(id)),
}

const fluorescenceColor = (title: string) => (title === 'None' ? '' : title)

function textOf(name: FieldName, fields: DiamondFields): string {
  const format = CUSTOM_FORMATTERS[name]
  if (format !== undefined) return format(fields)
  const [field, value] = [FIELDS[name], fields[name]]
  if (value === null) return ''
  return field.kind === 'entry' ? field.dictionary[field.shown](Number(value)) : String(value)
}
