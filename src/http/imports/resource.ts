import { z } from 'zod'
import type { ImportCommandContext, StoredReading } from '../../commands/imports/understand.ts'
import { importsOf, readingOf } from '../../commands/imports/stock-imports.ts'
import { IMPORT_STATES, isAtWork, isUndoable, type StockImport } from '../../domain/imports/stock-import.ts'
import { RequestError } from '../../domain/request-error.ts'
import type { OpenReadModel } from '../../projections/engine/background-services.ts'
import { formatTime, pointerToken } from '../../representations/json.ts'
import { UnreadableFile, UnusableOption, type Question } from '../../trade-files/errors.ts'
import type { FormUploads } from '../files/form-uploads.ts'
import type { BearerPrincipal } from '../kit/authenticate.ts'
import type { EndpointContext } from '../kit/endpoint.ts'
import { IMPORT_OPTIONS, partNameOf } from './options.ts'

export type ImportServices = {
  readonly imports: {
    readonly context: ImportCommandContext
    /** The imports of all accounts. */
    readonly readModel: Pick<OpenReadModel, 'model' | 'progress'>
    readonly uploads: FormUploads
    /** Stones that were written or restored so far. */
    readonly doneOf: (stockImport: StockImport) => Promise<number>
  }
}

export const IMPORT_PARAMETERS = { id: z.string().describe('The id of an import.') } as const

export const IMPORT_ERROR_RESPONSES = {
  403: 'The import belongs to another account',
  404: 'No such import',
} as const

const COUNT = z.int().min(0)
const NAME = z.string().nullable()
const COUNTS = z
  .strictObject({ created: COUNT, changed: COUNT, unchanged: COUNT, deleted: COUNT, certifications: COUNT })
  .meta({ id: 'ImportCounts' })
const QUESTION = z
  .strictObject({
    option: NAME.describe(
      'The option that answers it, as a form names it, such as `map[Price]`; null if `choices` are columns',
    ),
    column: NAME,
    field: NAME.describe('The field without a column: `choices` are the columns that may have it'),
    ask: z.string(),
    choices: z.array(z.string()),
  })
  .meta({ id: 'ImportQuestion' })

const SUMMARY_MEMBERS = {
  id: z.string(),
  state: z.enum(IMPORT_STATES).meta({ id: 'ImportState' }),
  created: z.string().describe('When the file was uploaded, such as 2026-11-22T13:00:00+00:00'),
  done: COUNT.nullable().describe(
    'Stones written or restored so far; null unless it is applied or undone at the moment',
  ),
  total: COUNT.nullable().describe('All stones; null before it is applied'),
  counts: COUNTS.nullable().describe('What it did; null before it is applied'),
  undo: z.string().nullable().describe('The URL that undoes it by POST; null if there is nothing to undo'),
  restored: COUNT.nullable().describe('Stones that an undo restored; null unless it was undone'),
  left: COUNT.nullable().describe('Stones that an undo left as they are, because they were changed or deleted since'),
  why: z.string().nullable().describe('Why it failed, or could not be undone'),
}

const FILE = z.strictObject({ name: NAME })

/** An import in a list. */
export const IMPORT_SUMMARY = z.strictObject({ ...SUMMARY_MEMBERS, file: FILE }).meta({ id: 'ImportSummary' })

/** An import with what was understood of its file. */
export const IMPORT = z
  .strictObject({
    ...SUMMARY_MEMBERS,
    file: FILE.extend({
      rows: COUNT.describe('Lines with a stone'),
      sheet: NAME,
      format: NAME.describe('Such as `utf-8, separated by commas`'),
    }),
    options: z.record(z.string(), z.unknown()).describe('The options that were sent'),
    columns: z.array(
      z.strictObject({
        name: z.string(),
        field: NAME.describe('The field or other meaning; null if it is ignored'),
        examples: z.array(z.string()).describe('The first different texts in it, at most three'),
      }),
    ),
    questions: z.array(QUESTION).describe('What must be answered by options before the lines can be read'),
    errors: z
      .array(z.strictObject({ line: z.int(), column: NAME, message: z.string() }))
      .describe('The first 1,000 errors'),
    errorCount: COUNT,
    unknownValues: z
      .array(z.strictObject({ option: z.string(), column: z.string(), text: z.string(), lines: COUNT }))
      .describe('Texts that are no values of their fields, and the option that gives them one'),
    remarks: z.array(z.string()).describe('What is read or stored otherwise than it may seem'),
    would: COUNTS.describe('What the import would do'),
    first: z.array(z.record(z.string(), z.unknown())).describe('The first stones as they would be stored'),
  })
  .meta({ id: 'Import' })

type ImportProgress = Pick<ImportServices['imports'], 'doneOf'>

/** @param base URL of the service */
export async function toImportSummary(
  stockImport: StockImport,
  { doneOf }: ImportProgress,
  base: string,
): Promise<z.output<typeof IMPORT_SUMMARY>> {
  const { id, state, name, at, run, counts, undoCounts, why } = stockImport
  return {
    id,
    state,
    created: formatTime(at),
    file: { name },
    done: isAtWork(stockImport) ? await doneOf(stockImport) : null,
    total: run?.total ?? null,
    counts: counts ?? null,
    undo: isUndoable(stockImport) ? `${base}/v4/import/${id}/undo` : null,
    restored: undoCounts?.restored ?? null,
    left: undoCounts?.left ?? null,
    why: why ?? null,
  }
}

/** @param base URL of the service */
export async function toImportBody(
  stockImport: StockImport,
  reading: StoredReading,
  progress: ImportProgress,
  base: string,
): Promise<z.output<typeof IMPORT>> {
  const { rows, sheet, format, columns, questions, errors, errorCount, unknownValues, remarks, would, first } = reading
  const { file, ...summary } = await toImportSummary(stockImport, progress, base)
  return {
    ...summary,
    file: { ...file, rows, sheet, format },
    options: stockImport.options,
    columns: columns.map(({ name, content, examples = [] }) => ({ name, field: content, examples: [...examples] })),
    questions: questions.map(toQuestion),
    errors: [...errors],
    errorCount,
    unknownValues: unknownValues.map(({ column, text, lines }) => ({
      option: `${partNameOf('mapValue', column)}[${text}]`,
      column,
      text,
      lines,
    })),
    remarks: [...remarks],
    would,
    first: first.map(nestMembers),
  }
}

const OPTION_OF: Readonly<Record<Question['kind'], keyof typeof IMPORT_OPTIONS.shape>> = {
  'unknown column': 'map',
  'column without heading': 'map',
  'several columns for a field': 'map',
  'field without column': 'map',
  'price per carat': 'map',
  'decimal separator': 'decimal',
  sheet: 'sheet',
}

function toQuestion({ kind, ask, column, field, choices }: Question): z.output<typeof QUESTION> {
  const option = OPTION_OF[kind]
  const isForColumn = option === 'map'
  const name = isForColumn && column === undefined ? null : partNameOf(option, isForColumn ? column : undefined)
  return { option: name, column: column ?? null, field: field ?? null, ask, choices: [...choices] }
}

/** `proportions.table` becomes a member of `proportions`. */
function nestMembers(stone: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const nested: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(stone)) {
    const [outer = '', inner] = name.split('.', 2)
    nested[outer] = inner === undefined ? value : { ...(nested[outer] as object | undefined), [inner]: value }
  }
  return nested
}

/** @throws RequestError invalid for a file that cannot be read or an option that does not fit it, else the error itself */
export function refuseFile(error: unknown): never {
  if (error instanceof UnreadableFile) {
    const message = [error.message, ...error.remarks.map(({ text }) => text)].join('. ')
    throw new RequestError('invalid', [{ pointer: '/file', message, code: 'format' }])
  }
  if (!(error instanceof UnusableOption)) throw error
  const { option, key, message } = error
  const pointer = key === undefined ? `/${option}` : `/${option}/${pointerToken(key)}`
  throw new RequestError('invalid', [{ pointer, message, code: 'unknown_value' }])
}

type ImportRequest = Pick<EndpointContext<BearerPrincipal, unknown, { readonly id: string }>, 'params' | 'state'>

/**
 * Reads an import of the account from the event log.
 * @throws RequestError missing, or forbidden if the import belongs to another account
 */
export async function requireOwnImport(
  { params: { id }, state: { principal } }: ImportRequest,
  { imports: { context, readModel } }: ImportServices,
): Promise<StockImport> {
  const stockImport = (await importsOf(context, principal.account)).find((one) => one.id === id)
  if (stockImport !== undefined) return stockImport
  const stored = await readModel.model.get(id, ['owner'])
  if (stored === undefined || stored['owner'] === principal.account)
    throw new RequestError('missing', `There is no import ${id.slice(0, 40)}`)
  throw new RequestError('forbidden', `Import ${id} belongs to another account`)
}

/** The body of an import, with what was understood of its file. @param base URL of the service */
export const readImportBody = async (
  stockImport: StockImport,
  { imports }: ImportServices,
  base: string,
): Promise<z.output<typeof IMPORT>> =>
  toImportBody(stockImport, await readingOf(imports.context, stockImport), imports, base)
