/** Names or numbers in a message, which is limited to the first ten. */
export const listFirst = (names: readonly (string | number)[]): string =>
  names.slice(0, MAX_LISTED).join(', ') + (names.length > MAX_LISTED ? ' and others' : '')

const MAX_LISTED = 10

/** A sentence on a file, and the option for reading it that changes what the sentence says. */
export type Remark = { readonly text: string; readonly option?: 'includeHidden' | 'sheet' }

/** A column with a heading. */
export type FileColumn = {
  readonly name: string
  /** A field or another meaning; null if the column is ignored. */
  readonly content: string | null
  /** The first different texts in it. Absent in what earlier releases have stored. */
  readonly examples?: readonly string[]
}

/** What a file leaves open. */
export type Question = {
  readonly kind:
    | 'unknown column'
    | 'column without heading'
    | 'several columns for a field'
    | 'field without column'
    | 'price per carat'
    | 'decimal separator'
    | 'sheet'
  readonly ask: string
  /** The column that the answer is for. */
  readonly column?: string
  /** The field without a column; the choices are the columns then. */
  readonly field?: string
  /** Contents of the column (empty to ignore it), separators, sheets or columns. */
  readonly choices: readonly string[]
}

/** The file cannot be read with these options. */
class FileError extends Error {
  /** What else its reader should know: other sheets, hidden parts. */
  remarks: readonly Remark[] = []
}

/** A file that cannot be read as a list of stones. */
export class UnreadableFile extends FileError {
  override readonly name = 'UnreadableFile'

  /** @param reason the rest of a sentence that begins with the file, such as `is a PDF; import a spreadsheet instead` */
  constructor(readonly reason: string) {
    super(`The file ${reason}`)
  }
}

/**
 * The file, together with the options to read it, leaves open what it means: unknown or ambiguous columns, ambiguous numbers,
 * several stock lists.
 */
export class UnclearFile extends FileError {
  override readonly name = 'UnclearFile'

  /** @param columns those of its header, as far as it was read */
  constructor(
    readonly questions: readonly Question[],
    readonly columns: readonly FileColumn[] = [],
  ) {
    super([...new Set(questions.map(({ ask }) => ask))].join('\n'))
  }
}

/** An option that does not fit the file. */
export class UnusableOption extends Error {
  override readonly name = 'UnusableOption'

  /**
   * @param key the column, for an option with one value for each column
   * @param reason the rest of a sentence that begins with the option, such as `requires a workbook`
   */
  constructor(
    readonly option: 'map' | 'mapValue' | 'sheet',
    readonly key: string | undefined,
    readonly reason: string,
  ) {
    super(`${key === undefined ? option : `${option}[${key}]`} ${reason}`)
  }
}
