import { Command, Option } from 'commander'
import { requireAccount } from '../commands/accounts/accounts.ts'
import { BadUsage } from '../maintenance/operation.ts'
import { parseColumnMapping, parseValueMappings } from './import/columns.ts'
import { importStones } from './import/import-stones.ts'
import type { ImportRequest } from './import/report.ts'
import { withFile } from './import/source.ts'
import { undoImport } from './import/undo.ts'
import { withInstallation, type OpenInstallation } from './with-installation.ts'

type ImportOptions = Omit<ImportRequest, 'user' | 'file'> & {
  readonly user?: string
  readonly map: readonly string[]
  readonly mapValue: readonly string[]
  readonly undo?: string
}

/** `import`: stones from a file, and what an import did taken back. */
export function importCommand(open: OpenInstallation): Command {
  return new Command('import')
    .description('create the diamonds of a file, or make the stones of its skus what it says; and take that back')
    .argument('[file]', '.xlsx, .csv or .jsonl, the latter two packed (.gz) or not; - reads stdin')
    .option('--user <email>', 'the account that owns them')
    .addOption(updateBy())
    .option('--delete-missing', 'with --update-by: delete the stones whose sku is not in the file; asks before')
    .option('--yes', 'do not ask')
    .option('--skip-bad', 'leave out the lines that can not be used; without it one such line stops the import')
    .option('--ignore-unknown', 'leave out columns that are no v4 fields')
    .option('--map <column=field>', 'what a column is; COLUMN= leaves it out; can be repeated', collectOptionValues, [])
    .option(
      '--map-value <column:text=value>',
      'what a text of a column means; can be repeated',
      collectOptionValues,
      [],
    )
    .addOption(
      new Option('--decimal <character>', 'what stands before the fraction of every number').choices(['.', ',']),
    )
    .option('--sheet <name>', 'the sheet of a workbook, by name or number; the first one without it')
    .option('--dry-run', 'check all lines, show what would be stored, and write nothing')
    .option('--again', 'create stones once more that were imported before')
    .option('--undo <file>', 'take an import back, by the undo file that it has told')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', HELP)
    .action((file: string | undefined, options: ImportOptions) => run(open, file, options))
}

const updateBy = () =>
  new Option('--update-by <field>', 'change the stones that have the sku of a line, and create the others').choices([
    'sku',
  ])

const HELP = `
A file has v4 fields in any case as its header, or what the trade calls them; or a JSON object a line. An import that was
stopped or killed goes on where it was when the same command is given again.

Examples:
  printf 'sku,cutShape,carat,color\\nA-1,Round,0.71,G\\n' > stones.csv
  npx adamant import stones.csv --user jane@example.com
  npx adamant import stones.csv --user jane@example.com --update-by sku --delete-missing --dry-run`

const collectOptionValues = (word: string, before: readonly string[]) => [...before, word]

async function run(open: OpenInstallation, file: string | undefined, options: ImportOptions): Promise<void> {
  if (options.undo !== undefined) {
    if (file !== undefined) throw new BadUsage('--undo takes no other file: it knows which import it takes back')
    return undoImport(open, options.undo, options)
  }
  const request = toImportRequest(file, options)
  const [mapping, values] = [parseColumnMapping(options.map), parseValueMappings(options.mapValue)]
  await withFile(request.file, (path) =>
    withInstallation(open, async (installation) => {
      const { account } = await requireAccount(installation, request.user)
      await importStones(installation, path, account, { ...request, mapping, values })
    }),
  )
}

/** @throws BadUsage for options that don't go together */
function toImportRequest(given: string | undefined, options: ImportOptions): ImportRequest {
  const { user, deleteMissing } = options
  if (given === undefined) throw new BadUsage('Name the file of stones, or - for stdin')
  if (user === undefined) throw new BadUsage('Name the account that owns the stones by --user EMAIL')
  if (deleteMissing === true && options.updateBy === undefined) {
    throw new BadUsage('--delete-missing goes with --update-by sku')
  }
  if (deleteMissing === true && options.skipBad === true) {
    throw new BadUsage('--delete-missing takes no --skip-bad: the stone of a line that is left out would be deleted')
  }
  if (options.again === true && options.updateBy !== undefined) {
    throw new BadUsage('--again creates stones once more, which --update-by does not')
  }
  return { ...options, user, file: given }
}
