import type { z } from 'zod'
import type { StoredReading } from '../../../commands/imports/understand.ts'
import type { ImportOptions } from '../../../domain/imports/stock-import.ts'
import { FIELDS, isField } from '../../../domain/diamond/fields.ts'
import { CONTENTS } from '../../../trade-files/columns.ts'
import { contentName } from '../../../trade-files/content-names.ts'
import type { FileColumn, Question } from '../../../trade-files/errors.ts'
import { fieldDisplayValue } from '../../../representations/diamond/display-value.ts'
import { changeOptions, type IMPORT_OPTIONS } from '../../imports/options.ts'
import { valuesOf } from '../values.ts'

type OptionChange = z.output<typeof IMPORT_OPTIONS>

/** One of several choices of a control, and what it changes. */
type Alternative = {
  readonly label: string
  readonly change: OptionChange
  readonly ignoresColumn?: true
}

/** A choice in the form of an import. The form sends the index of the chosen alternative. */
export type Control = {
  readonly name: string
  readonly label: string
  readonly alternatives: readonly Alternative[]
  /** The index of the present one; none as long as a question is not answered. */
  readonly selected?: number
  /** What no choice means, for a control that may stay as it is. */
  readonly unchanged?: string
}

/** The controls of an import that is not applied. */
export type ImportControls = {
  readonly questions: readonly Control[]
  /** By column. Columns with a question have none. */
  readonly columns: ReadonlyMap<FileColumn, Control>
  /** Texts that are no values of their fields. */
  readonly words: readonly Control[]
  readonly badLines: readonly Control[]
  readonly others: readonly Control[]
}

export const controlsOf = (reading: StoredReading, options: ImportOptions): ImportControls => ({
  questions: questionsOf(reading),
  columns: columnsOf(reading),
  words: wordsOf(reading),
  badLines: reading.badLines > 0 || options.skipBad === true ? [badLinesOf(reading, options)] : [],
  others: [modeOf(options), decimalsOf(options)],
})

/**
 * The options after a form was sent.
 * @param texts the chosen indexes by control
 * @param ignoresUnanswered ignores the columns whose question was not answered
 */
export function chosenOptions(
  { questions, columns, words, badLines, others }: ImportControls,
  options: ImportOptions,
  texts: ReadonlyMap<string, string>,
  ignoresUnanswered: boolean,
): ImportOptions {
  const chosenIn = ({ name, alternatives, selected }: Control): Alternative | undefined => {
    const index = Number(texts.get(name) || NaN)
    return index === selected ? undefined : alternatives[index]
  }
  const answers = questions.map((question) => {
    const ignoresIt = ignoresUnanswered ? question.alternatives.find(({ ignoresColumn }) => ignoresColumn) : undefined
    return chosenIn(question) ?? ignoresIt
  })
  const settings = [...columns.values(), ...words, ...badLines, ...others].map(chosenIn)
  return [...answers, ...settings].reduce(
    (changed, chosen) => (chosen === undefined ? changed : changeOptions(changed, chosen.change)),
    options,
  )
}

const mapped = (column: string, content: string): OptionChange => ({ map: { [column]: content } })

const ignoring = (column: string): Alternative => ({
  label: 'Ignore this column',
  change: mapped(column, ''),
  ignoresColumn: true,
})

const contentsFor = (column: string): readonly Alternative[] => [
  ...CONTENTS.map((content) => ({ label: contentName(content), change: mapped(column, content) })),
  ignoring(column),
]

/** Questions about the same thing have one control. */
const questionsOf = ({ questions, columns }: StoredReading): readonly Control[] =>
  [...Map.groupBy(questions, ({ kind, ask }) => (kind === 'decimal separator' ? kind : ask)).values()].flatMap(
    (group, index) => {
      const [first] = group
      if (first === undefined) return []
      const { label, alternatives } = questionOf(first, group)
      const { examples = [] } = columns.find(({ name }) => name === first.column) ?? {}
      const hint = group.length > 1 || examples.length === 0 ? '' : ` (${examples.join(', ')})`
      return [{ name: `question-${index}`, label: label + hint, alternatives }]
    },
  )

function questionOf(
  { kind, ask, column = '', field = '', choices }: Question,
  group: readonly Question[],
): Pick<Control, 'label' | 'alternatives'> {
  switch (kind) {
    case 'unknown column':
    case 'column without heading':
      return { label: ask, alternatives: contentsFor(column) }
    case 'price per carat':
      return {
        label: ask,
        alternatives: [
          { label: 'It is the price of the whole stone', change: mapped(column, 'price') },
          ignoring(column),
        ],
      }
    case 'several columns for a field':
      return {
        label: ask,
        alternatives: group.map((chosen) => ({
          label: chosen.column ?? '',
          change: {
            map: Object.fromEntries(
              group.map((one) => [one.column ?? '', one === chosen ? (one.choices[0] ?? '') : '']),
            ),
          },
        })),
      }
    case 'field without column':
      return { label: ask, alternatives: choices.map((choice) => ({ label: choice, change: mapped(choice, field) })) }
    case 'decimal separator':
      return { label: group.map((one) => one.ask).join('. '), alternatives: DECIMALS }
    case 'sheet':
      return { label: ask, alternatives: choices.map((choice) => ({ label: choice, change: { sheet: choice } })) }
  }
}

const DECIMALS: readonly Alternative[] = [
  { label: 'Decimal point: 1,234.56', change: { decimal: '.' } },
  { label: 'Decimal comma: 1.234,56', change: { decimal: ',' } },
]

function columnsOf({ columns, questions }: StoredReading): ReadonlyMap<FileColumn, Control> {
  const asked = new Set(questions.map(({ column }) => column))
  return new Map(
    columns.flatMap((column, index) => {
      if (asked.has(column.name)) return []
      const selected = CONTENTS.findIndex((content) => content === column.content)
      const control = {
        name: `column-${index}`,
        label: `Meaning of ${column.name}`,
        alternatives: contentsFor(column.name),
        selected: selected < 0 ? CONTENTS.length : selected,
      }
      return [[column, control] as const]
    }),
  )
}

const wordsOf = ({ unknownValues, columns }: StoredReading): readonly Control[] =>
  unknownValues.map(({ column, text, lines }, index) => {
    const content = columns.find(({ name }) => name === column)?.content ?? ''
    const given = (value: string): OptionChange => ({ mapValue: { [column]: { [text]: value } } })
    return {
      name: `word-${index}`,
      label: `“${text}” in ${column}, ${lines === 1 ? '1 line' : `${lines} lines`}`,
      alternatives: [
        { label: 'No value', change: given('') },
        ...choicesOf(content).map(([label, value]) => ({ label, change: given(value) })),
      ],
      unchanged: 'Stays an error',
    }
  })

function choicesOf(content: string): readonly (readonly [label: string, value: string])[] {
  if (!isField(content)) return []
  if (FIELDS[content].kind === 'flag')
    return [true, false].map((value) => [fieldDisplayValue(content, value), String(value)] as const)
  return valuesOf(content).map((value) => [value, value] as const)
}

const badLinesOf = ({ badLines }: StoredReading, { skipBad }: ImportOptions): Control => ({
  name: 'bad-lines',
  label: 'Lines with errors',
  alternatives: [
    { label: 'I correct them in the file and upload it again', change: { skipBad: false } },
    { label: badLines === 1 ? 'Leave out that line' : `Leave out these ${badLines} lines`, change: { skipBad: true } },
  ],
  selected: skipBad === true ? 1 : 0,
})

/** What the lines do. Also part of the form that uploads a file. */
export const modeOf = ({ by, deleteMissing }: ImportOptions): Control => ({
  name: 'mode',
  label: 'What the lines are',
  alternatives: [
    { label: 'New stones, all of them', change: { by: null, deleteMissing: null } },
    { label: 'Stones with the same SKU are updated, others are new', change: { by: 'sku', deleteMissing: null } },
    {
      label: 'The whole stock: the same, and stones that are not in the file are deleted',
      change: { by: 'sku', deleteMissing: true },
    },
  ],
  selected: by === undefined ? 0 : deleteMissing === true ? 2 : 1,
})

const decimalsOf = ({ decimal }: ImportOptions): Control => ({
  name: 'decimals',
  label: 'Numbers',
  alternatives: [{ label: 'As found in each column', change: { decimal: null } }, ...DECIMALS],
  selected: decimal === undefined ? 0 : DECIMALS.findIndex(({ change }) => change.decimal === decimal) + 1,
})
