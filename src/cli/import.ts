import { Command, Option } from 'commander'
import { requireAccount } from '../commands/accounts/accounts.ts'
import { BadUsage } from '../maintenance/operation.ts'
import { importStones } from './import/import-stones.ts'
import { explainFileError, type ImportRequest } from './import/report.ts'
import { withFile } from './import/stdin-file.ts'
import { undoImport } from './import/undo.ts'
import { withInstallation, type OpenInstallation } from './with-installation.ts'

type ImportOptions = Omit<ImportRequest, 'user' | 'file' | 'map' | 'mapValue'> & {
  readonly user?: string
  readonly map: readonly string[]
  readonly mapValue: readonly string[]
  readonly undo?: string
}

/** `import`: creates or updates diamonds from a file, or undoes an import. */
export function importCommand(open: OpenInstallation): Command {
  return new Command('import')
    .description('Create diamonds from a file, update existing ones by sku, or undo an import')
    .argument(
      '[file]',
      'File to import: .xlsx, .csv or .jsonl, also as .csv.gz or .jsonl.gz, or a .zip of one of them and the PDFs of its reports; - for stdin',
    )
    .option('--user <email>', 'Account that owns the diamonds, by e-mail address or number')
    .addOption(updateByOption())
    .option('--delete-missing', 'With --update-by: delete diamonds whose sku is not in the file, after confirmation')
    .option('--yes', 'Skip the confirmation prompt')
    .option(
      '--skip-bad',
      'Skip invalid lines; with --undo, diamonds changed since the import (default: stop if there are any)',
    )
    .option('--ignore-unknown', 'Ignore columns that are not v4 fields (default: stop if there are any)')
    .option(
      '--map <column=field>',
      'Field of a column; COLUMN= ignores the column; repeatable',
      collectOptionValues,
      [],
    )
    .option('--map-value <column:text=value>', 'Value of a text in a column; repeatable', collectOptionValues, [])
    .addOption(
      new Option('--decimal <character>', 'Decimal separator of all numbers (default: detected per column)').choices([
        '.',
        ',',
      ]),
    )
    .option('--sheet <name>', 'Sheet of a workbook, by name or number (default: the visible stock list)')
    .option('--include-hidden', 'Also read hidden sheets, rows and columns of a workbook')
    .option('--include-unavailable', 'Also read lines that are sold, on memo or reserved')
    .option('--dry-run', 'Validate all lines and show the result without writing anything')
    .option('--again', 'Create the diamonds again if the file has been imported before')
    .option('--undo <file>', 'Undo an import: the undo file whose path the import printed')
    .addHelpText('after', HELP)
    .action((file: string | undefined, options: ImportOptions) => run(open, file, options))
}

const updateByOption = () =>
  new Option('--update-by <field>', 'Update the diamond with the same sku, or create it if there is none').choices([
    'sku',
  ])

const HELP = `
The header of a spreadsheet names the v4 fields, in upper or lower case, or uses common names of the trade; a .jsonl file has
one JSON object per line. If an import is interrupted, run the same command again to resume it.

Examples:
  printf 'sku,cutShape,carat,color\\nA-1,Round,0.71,G\\n' > stones.csv
  adamant import stones.csv --user jane@example.com
  adamant import stones.csv --user jane@example.com --update-by sku --delete-missing --dry-run`

const collectOptionValues = (value: string, previous: readonly string[]) => [...previous, value]

async function run(open: OpenInstallation, file: string | undefined, options: ImportOptions): Promise<void> {
  if (options.undo !== undefined) {
    if (file !== undefined) throw new BadUsage('--undo cannot be combined with a file to import')
    return undoImport(open, options.undo, options)
  }
  const request = toImportRequest(file, options)
  await withFile(request.file, (path, folder) =>
    withInstallation(open, async (installation) => {
      const { account } = await requireAccount(installation, request.user)
      await importStones(installation, { path, folder }, account, request).catch((error: unknown) => {
        throw explainFileError(error, request.file === '-' ? 'stdin' : request.file)
      })
    }),
  )
}

/** @throws BadUsage for missing options and invalid combinations */
function toImportRequest(file: string | undefined, options: ImportOptions): ImportRequest {
  const { user, deleteMissing } = options
  if (file === undefined) throw new BadUsage('Missing argument: the file to import, or - for stdin')
  if (user === undefined) throw new BadUsage('Missing option: --user EMAIL, the account that owns the stones')
  if (deleteMissing === true && options.updateBy === undefined) {
    throw new BadUsage('--delete-missing requires --update-by sku')
  }
  if (deleteMissing === true && options.skipBad === true) {
    throw new BadUsage(
      '--delete-missing cannot be combined with --skip-bad: it would delete the stones of the skipped lines',
    )
  }
  if (options.again === true && options.updateBy !== undefined) {
    throw new BadUsage('--again cannot be combined with --update-by, which never creates a stone twice')
  }
  const { map, mapValue, ...rest } = options
  return { ...rest, user, file, map: parseColumnFields(map), mapValue: parseColumnValues(mapValue) }
}

/** Parses `--map`, such as `Lot=sku` or `Remark=`. @throws BadUsage for another form */
function parseColumnFields(optionValues: readonly string[]): Record<string, string> {
  const pairs = optionValues.map((optionValue) => {
    const separatorIndex = optionValue.lastIndexOf('=')
    if (separatorIndex < 1)
      throw new BadUsage(`--map ${optionValue}: must be COLUMN=FIELD, or COLUMN= to ignore the column`)
    return [optionValue.slice(0, separatorIndex), optionValue.slice(separatorIndex + 1)] as const
  })
  return Object.fromEntries(pairs)
}

/** Parses `--map-value`, such as `Cut:Super Ideal=Ideal` or `Price:ask=`. @throws BadUsage for another form */
function parseColumnValues(optionValues: readonly string[]): Record<string, Record<string, string>> {
  const entries = optionValues.map((optionValue) => {
    const [, column = '', text = '', value = ''] = /^([^:]+):(.+)=([^=]*)$/.exec(optionValue) ?? []
    if (column === '')
      throw new BadUsage(`--map-value ${optionValue}: must be COLUMN:TEXT=VALUE, or COLUMN:TEXT= for no value`)
    return { column, text, value }
  })
  const byColumn = Map.groupBy(entries, ({ column }) => column)
  return Object.fromEntries(
    [...byColumn].map(([column, group]) => [column, Object.fromEntries(group.map(({ text, value }) => [text, value]))]),
  )
}
