import { z } from 'zod'
import type { ImportOptions } from '../../domain/imports/stock-import.ts'
import { mustBe, objectSchema, parseInput, requireValid } from '../../representations/parse.ts'

const FLAG = mustBe('true or false')
const TEXT = mustBe('a text')
const MAX_TEXT_LENGTH = 200
const name = z.string(TEXT).max(MAX_TEXT_LENGTH, mustBe(`a text of at most ${MAX_TEXT_LENGTH} characters`))

/** Members that a form sends as text: `true`, `1` and the `on` of a checkbox. */
const FLAGS = ['deleteMissing', 'skipBad']

/** Options of an import in a request: absent ones stay as they are, null removes one. */
export const IMPORT_OPTIONS = objectSchema(
  {
    by: z
      .literal('sku', mustBe('sku, or null'))
      .nullable()
      .exactOptional()
      .describe('`sku` updates the stone with the same sku, or creates it; without it, every line is a new stone'),
    deleteMissing: z
      .boolean(FLAG)
      .nullable()
      .exactOptional()
      .describe('With `by`: deletes the stones whose sku is not in the file'),
    skipBad: z.boolean(FLAG).nullable().exactOptional().describe('Leaves out lines with errors'),
    sheet: name.nullable().exactOptional().describe('Name or number of the sheet of a workbook'),
    decimal: z
      .enum(['.', ','], mustBe('a point or a comma, or null'))
      .meta({ id: 'DecimalSeparator' })
      .nullable()
      .exactOptional()
      .describe('Decimal separator of all numbers'),
    map: z
      .record(z.string(), name.nullable(), mustBe('an object with a field for each column'))
      .exactOptional()
      .describe('The field of a column, by its name; empty to ignore the column'),
    mapValue: z
      .record(z.string(), z.record(z.string(), name.nullable()), mustBe('an object with an object for each column'))
      .exactOptional()
      .describe('The value of a text in a column, by both; empty for no value'),
  },
  'the options of an import',
  '{"by": "sku", "map": {"Price": "price"}}',
)

type OptionChange = z.output<typeof IMPORT_OPTIONS>

/**
 * The options of an import after a request.
 * @throws RequestError invalid, with all errors
 */
export function changeOptions(options: ImportOptions, input: unknown): ImportOptions {
  const change = requireValid(
    parseInput<OptionChange>(IMPORT_OPTIONS, input, {
      name: 'the options of an import',
      members: Object.keys(IMPORT_OPTIONS.shape),
    }),
  )
  const { by = options.by, sheet = options.sheet, decimal = options.decimal } = change
  const { deleteMissing = options.deleteMissing, skipBad = options.skipBad } = change
  const map = merge(options.map, change.map)
  const mapValue = Object.fromEntries(
    [...new Set([...Object.keys(options.mapValue ?? {}), ...Object.keys(change.mapValue ?? {})])].map((column) => [
      column,
      merge(options.mapValue?.[column], change.mapValue?.[column]),
    ]),
  )
  return {
    ...(typeof by === 'string' && { by }),
    ...(deleteMissing === true && { deleteMissing }),
    ...(skipBad === true && { skipBad }),
    ...(typeof sheet === 'string' && { sheet }),
    ...(typeof decimal === 'string' && { decimal }),
    ...(hasMembers(map) && { map }),
    ...(hasMembers(mapValue) && { mapValue }),
  }
}

const hasMembers = (object: object): boolean => Object.keys(object).length > 0

/** Null removes a member. */
function merge(
  before: Readonly<Record<string, string>> = {},
  change: Readonly<Record<string, string | null>> = {},
): Record<string, string> {
  const members = Object.entries({ ...before, ...change })
  return Object.fromEntries(members.filter((member): member is [string, string] => member[1] !== null))
}

/**
 * The options in the texts of a form, as JSON: `map[COLUMN]`, `mapValue[COLUMN][TEXT]`, and the others by name. Empty texts
 * of the others are absent, as browsers send them for a field that was not filled in.
 */
export function optionsFromForm(texts: ReadonlyMap<string, string>): Record<string, unknown> {
  const map: [string, string][] = []
  const mapValue: { column: string; text: string; value: string }[] = []
  const others: [string, unknown][] = []
  for (const [part, value] of texts) {
    const [, column] = /^map\[(.+)\]$/s.exec(part) ?? []
    const [, valueColumn, text = ''] = /^mapValue\[(.+?)\]\[(.*)\]$/s.exec(part) ?? []
    if (column !== undefined) map.push([column, value])
    else if (valueColumn !== undefined) mapValue.push({ column: valueColumn, text, value })
    else if (value !== '') others.push([part, FLAGS.includes(part) ? flagOf(value) : value])
  }
  const byColumn = [...Map.groupBy(mapValue, ({ column }) => column)].map(
    ([column, group]) => [column, Object.fromEntries(group.map(({ text, value }) => [text, value]))] as const,
  )
  return {
    ...Object.fromEntries(others),
    ...(map.length > 0 && { map: Object.fromEntries(map) }),
    ...(byColumn.length > 0 && { mapValue: Object.fromEntries(byColumn) }),
  }
}

/** Another text stays, so that it is refused by name. */
const flagOf = (text: string): boolean | string =>
  /^(?:true|1|on)$/i.test(text) ? true : /^(?:false|0|off)$/i.test(text) ? false : text

/** The name of an option in a form. */
export const partNameOf = (option: string, column: string | undefined): string =>
  column === undefined ? option : `${option}[${column}]`
