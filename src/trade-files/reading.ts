import { checkStockList } from './archive.ts'
import { UnclearFile, type FileColumn, type Question, type Remark } from './errors.ts'
import type { ContentSummary, CountedTexts, Findings, UsableLine } from './findings.ts'
import { indexStones } from './known-stones.ts'
import type { BadLine } from './lines.ts'
import { openSource, type ImportSource, type ReadingOptions } from './source.ts'
import { readStockList } from './stock-list.ts'
import { unpackUpload } from './upload.ts'

/** Lines of an uploaded file. */
const MAX_ROWS = 200_000

/** Errors and texts that are listed; all are counted. */
const MAX_LISTED_ERRORS = 1_000
const MAX_LISTED_VALUES = 200

/** What was understood of an uploaded file. */
export type Reading = {
  /** Such as `utf-8, separated by commas`, or `sheet Stock`; null if it leaves open what to read. */
  readonly format: string | null
  /** The sheet's name, in a workbook. */
  readonly sheet: string | null
  readonly columns: readonly FileColumn[]
  /** What must be answered before the lines can be read; the rest is empty then. */
  readonly questions: readonly Question[]
  /** What is read or stored otherwise than a reader of the file may expect. */
  readonly remarks: readonly string[]
  /** Number of lines with stones, and of those that are left out. */
  readonly rows: number
  readonly errors: readonly ReadingError[]
  /** Number of all errors, and of lines with errors. */
  readonly errorCount: number
  readonly badLines: number
  /** Texts that are no values of their fields, most frequent first. */
  readonly unknownValues: readonly UnknownValue[]
  /** Number of lines without errors, those of stones that the account does not have, and their certifications. */
  readonly usable: number
  readonly newStones: number
  readonly certifications: number
  /** The first stones as they would be stored. */
  readonly first: ContentSummary['sampleStones']
  /** SHA-256 of the file and of its valid lines. */
  readonly digest: string
  /** Stones of the account whose sku is not in the file. */
  readonly missing: readonly number[]
}

/** `column` is null for an error of the whole line. */
type ReadingError = { readonly line: number; readonly column: string | null; readonly message: string }

type UnknownValue = { readonly column: string; readonly text: string; readonly lines: number }

/** Skus and custom shapes of an account's stones. */
export type AccountStock = {
  readonly skus: readonly (readonly [id: number, sku: string])[]
  readonly customShapes: readonly string[]
}

/** How to read an uploaded file. */
export type ReadingRequest = {
  readonly options: ReadingOptions
  /** For an update by sku; without it, every line is a new stone. */
  readonly stock?: AccountStock
}

type ReadStockList = {
  readonly reading: Reading
  /** The valid lines; none while there are questions. */
  readonly lines: AsyncGenerator<UsableLine>
}

/** An uploaded file that was read. It must be closed, unless all lines were read. */
export type OpenStockList = ReadStockList & {
  /** Where the PDFs of its reports are until it is closed, each with its SHA-256 as name. */
  readonly pdfFolder: string
  close(): Promise<void>
}

/**
 * Reads an uploaded file. Of an archive, the stock list and the PDFs are unpacked to a folder, each PDF with its SHA-256 as name.
 * @throws UnreadableFile, UnusableOption
 */
export async function readUpload(
  file: string,
  folder: string,
  { options, stock }: ReadingRequest,
): Promise<ReadStockList> {
  const { stockList, pdfs } = await unpackUpload(file, folder)
  await checkStockList(stockList)
  const knownStock = stock && indexStones(stock)
  try {
    const source = await openSource(stockList, options, { maxRows: MAX_ROWS, ...(stock && { required: ['sku'] }) })
    const { findings, pdfRemarks, usableLines } = await readStockList(source, knownStock, pdfs)
    const missing = (stock?.skus ?? []).filter(([, sku]) => !findings.hasSku(sku)).map(([id]) => id)
    const digest = `${await source.digest()}/${findings.digest}`
    const { remarks, ...found } = describeFindings(source, findings)
    const reading = { ...found, remarks: [...remarks, ...pdfRemarks], digest, missing }
    return { reading, lines: usableLines() }
  } catch (error) {
    if (!(error instanceof UnclearFile)) throw error
    const { questions, columns, remarks } = error
    const reading = { ...NOTHING_READ, questions, columns, remarks: textsOf(remarks) }
    return { reading, lines: noLines() }
  }
}

async function* noLines(): AsyncGenerator<UsableLine> {}

const NOTHING_READ: Reading = {
  format: null,
  sheet: null,
  columns: [],
  questions: [],
  remarks: [],
  rows: 0,
  errors: [],
  errorCount: 0,
  badLines: 0,
  unknownValues: [],
  usable: 0,
  newStones: 0,
  certifications: 0,
  first: [],
  digest: '',
  missing: [],
}

const textsOf = (remarks: readonly Remark[]): readonly string[] => remarks.map(({ text }) => text)

function describeFindings(source: ImportSource, findings: Findings): Omit<Reading, 'digest' | 'missing'> {
  const { badLines, usableCount, newCount, newReportCount, hiddenCount, unavailable, notes, customShapes, contents } =
    findings
  const omittedCount = hiddenCount + unavailable.lines
  const errors = badLines.flatMap(errorsOf)
  return {
    format: source.format,
    sheet: source.sheet ?? null,
    columns: source.columns,
    questions: [],
    remarks: [
      ...textsOf(source.remarks),
      ...(hiddenCount === 0
        ? []
        : [`${hiddenCount === 1 ? '1 hidden line is' : `${hiddenCount} hidden lines are`} left out`]),
      ...describeTexts('left out, since they are not for sale', unavailable),
      ...describeTexts('unknown cut shapes, stored as written', customShapes),
      ...[...notes.listed].map(
        ([text, { lines, firstLine }]) => `${text} (line ${firstLine}${lines === 1 ? '' : ` and ${lines - 1} more`})`,
      ),
    ],
    rows: usableCount + badLines.length + omittedCount,
    errors: errors.slice(0, MAX_LISTED_ERRORS),
    errorCount: errors.length,
    badLines: badLines.length,
    unknownValues: countUnknownValues(badLines),
    usable: usableCount,
    newStones: newCount,
    certifications: newReportCount,
    first: contents.sampleStones,
  }
}

const errorsOf = ({ line, problems }: BadLine): readonly ReadingError[] =>
  problems.map(({ message, column = null }) => ({ line, column, message }))

function countUnknownValues(badLines: readonly BadLine[]): readonly UnknownValue[] {
  const byCell = Map.groupBy(
    badLines.flatMap(({ invalidCells = [] }) => invalidCells),
    ({ column, text }) => `${column}\n${text}`,
  )
  return [...byCell.values()]
    .flatMap(([first, ...others]) => (first === undefined ? [] : [{ ...first, lines: others.length + 1 }]))
    .sort((one, other) => other.lines - one.lines)
    .slice(0, MAX_LISTED_VALUES)
}

/** One remark: `left out, since they are not for sale: Sold (2), On Memo (1)`. */
function describeTexts(what: string, { listed, unlistedCount }: CountedTexts): readonly string[] {
  const texts = [...listed].map(([text, { lines }]) => `${text} (${lines})`)
  const all = unlistedCount === 0 ? texts : [...texts, `others (${unlistedCount})`]
  return all.length === 0 ? [] : [`${what}: ${all.join(', ')}`]
}
