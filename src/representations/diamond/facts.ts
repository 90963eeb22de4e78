import { FIELDS, type DiamondFields, type FieldName } from '../../domain/diamond/fields.ts'
import { shapeTitle } from '../../domain/dictionaries/shapes.ts'
import { FIELD_DESCRIPTIONS, type FieldDescription } from './field-descriptions.ts'

export type StoneFact = readonly [label: string, text: string]

/** The owner's data on a stone as labelled texts, in display order. Unset fields are omitted. */
export function factsOf(fields: DiamondFields): readonly StoneFact[] {
  const said = new Map<string, string>()
  for (const [name, { label }] of LABELLED_FIELDS) {
    const text = textOf(name, fields)
    if (text === '') continue
    const before = said.get(label)
    said.set(label, before === undefined ? text : before + (BETWEEN[label] ?? ' ') + text)
  }
  return [...said]
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
  ([, words]) => 'label' in words,
) as unknown as readonly LabelledField[]

/** Separators between the texts of one label other than a space: `Faint, Blue`, but `Fancy Brownish Yellow`. */
const BETWEEN: Readonly<Record<string, string>> = { Fluorescence: ', ' }

/** Fields that are not formatted by their dictionary. */
const OWN: { readonly [Name in FieldName]?: (fields: DiamondFields) => string } = {
  cutShape: shapeName,
  carat: caratText,
  isLabGrown: ({ isLabGrown }) => (isLabGrown ? 'Laboratory-grown' : 'Natural'),
  fluorIntensity: ({ fluorIntensity: id }) => (id === null ? '' : FIELDS.fluorIntensity.dictionary.title(id)),
  fluorColor: ({ fluorColor: id }) => glow(id === null ? 'None' : FIELDS.fluorColor.dictionary.title(id)),
}

const glow = (title: string) => (title === 'None' ? '' : title)

function textOf(name: FieldName, fields: DiamondFields): string {
  const own = OWN[name]
  if (own !== undefined) return own(fields)
  const [field, value] = [FIELDS[name], fields[name]]
  if (value === null) return ''
  return field.kind === 'entry' ? field.dictionary[field.shown](Number(value)) : String(value)
}
