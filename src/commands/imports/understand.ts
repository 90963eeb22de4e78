import type { Diamond } from '../../domain/diamond/diamond.ts'
import type { ImportCounts, ImportOptions, ImportOutcome, StoredImportFile } from '../../domain/imports/stock-import.ts'
import { RequestError } from '../../domain/request-error.ts'
import type { FileStore } from '../../stores/ports/file-store.ts'
import { indexStones } from '../../trade-files/known-stones.ts'
import { BULK_SIZE, planCreations, planUpdates } from '../../trade-files/plan.ts'
import type { AccountStock, OpenStockList, Reading, ReadingRequest } from '../../trade-files/reading.ts'
import type { CommandContext } from '../core/command-context.ts'
import { planUpdate } from '../diamonds/change-stock.ts'
import { findResumePoint, takeNoId } from './write-bulks.ts'

/** What imports need besides the event log. */
export type ImportCommandContext = CommandContext & {
  readonly files: FileStore
  /** A file of at most 20 MB; undefined if it is missing or damaged. @throws StoreUnavailable */
  readonly readFile: (digest: string) => Promise<Buffer | undefined>
  /** @throws UnreadableFile, UnusableOption, BytesMissing, StoreUnavailable */
  readonly openStockList: (account: number, digest: string, request: ReadingRequest) => Promise<OpenStockList>
  readonly inventory: {
    /** The account's stones, with everything written before the call. @throws RequestError unavailable, StoreUnavailable */
    stock(account: number): Promise<StockWithFiles>
    /** At most BULK_SIZE stones. @throws StoreUnavailable */
    diamonds(ids: readonly number[]): Promise<ReadonlyMap<number, Diamond>>
  }
}

/** @property idsWithFiles stones with a report's PDF or a 3D model */
type StockWithFiles = AccountStock & { readonly idsWithFiles: ReadonlySet<number> }

/** What was understood of a file, as it is stored. */
export type StoredReading = Omit<Reading, 'missing' | 'newStones' | 'certifications'> & {
  /** What the import would do. */
  readonly would: ImportCounts
}

/**
 * Reads a stored file, and counts what its import would do.
 * @throws UnreadableFile, UnusableOption, RequestError invalid or unavailable, StoreUnavailable
 */
export async function understand(
  context: ImportCommandContext,
  account: number,
  { digest }: StoredImportFile,
  options: ImportOptions,
): Promise<{ readonly reading: StoredReading; readonly outcome: ImportOutcome }> {
  requireConsistent(options)
  const { list, stock } = await openImportFile(context, account, digest, options)
  try {
    const { missing, newStones: _, certifications: __, ...reading } = list.reading
    const toDelete = options.deleteMissing === true ? missing : []
    if (reading.questions.length === 0 && reading.usable === 0 && toDelete.length > 0) throw deletesEverything()
    const counts =
      stock === undefined
        ? await countCreations(context, account, list)
        : await countUpdates(context, account, list, stock)
    const unrestorable = toDelete.filter((id) => stock?.idsWithFiles.has(id)).length
    return {
      reading: {
        ...reading,
        remarks: [
          ...reading.remarks,
          ...describeUnrestorable(unrestorable),
          ...(stock === undefined ? describeEarlierImport(counts.unchanged) : []),
        ],
        would: { ...counts, deleted: toDelete.length },
      },
      outcome: outcomeOf(reading, options),
    }
  } finally {
    await list.close()
  }
}

/**
 * Opens a stored file with the options of an import, and the account's stock if it is an update. The list must be closed.
 * @throws UnreadableFile, UnusableOption, RequestError unavailable, StoreUnavailable
 */
export async function openImportFile(
  { inventory, openStockList }: ImportCommandContext,
  account: number,
  digest: string,
  options: ImportOptions,
): Promise<{ readonly list: OpenStockList; readonly stock: StockWithFiles | undefined }> {
  const stock = options.by === undefined ? undefined : await inventory.stock(account)
  const request = {
    options: readingOptionsOf(options),
    ...(stock && { stock: { skus: stock.skus, customShapes: stock.customShapes } }),
  }
  return { list: await openStockList(account, digest, request), stock }
}

const readingOptionsOf = ({ sheet, decimal, map, mapValue }: ImportOptions): ReadingRequest['options'] => ({
  ...(sheet !== undefined && { sheet }),
  ...(decimal !== undefined && { decimal }),
  ...(map && { map }),
  ...(mapValue && { mapValue }),
})

/** @throws RequestError invalid */
function requireConsistent({ by, deleteMissing, skipBad }: ImportOptions): void {
  if (deleteMissing !== true) return
  if (by === undefined) throw refuseOption('deleteMissing', 'deleteMissing requires by=sku')
  if (skipBad === true)
    throw refuseOption(
      'deleteMissing',
      'deleteMissing cannot be combined with skipBad: it would delete the stones of the lines that are left out',
    )
}

const refuseOption = (name: string, message: string): RequestError =>
  new RequestError('invalid', [{ pointer: `/${name}`, message, code: 'range' }])

const deletesEverything = (): RequestError =>
  refuseOption('deleteMissing', 'deleteMissing does not delete the whole inventory: the file contains no stones')

function outcomeOf(
  { questions, badLines }: Pick<Reading, 'questions' | 'badLines'>,
  { skipBad }: ImportOptions,
): ImportOutcome {
  if (questions.length > 0) return 'asking'
  return badLines > 0 && skipBad !== true ? 'invalid' : 'ready'
}

type LineCounts = Omit<ImportCounts, 'deleted'>

/** A file that was imported before creates nothing again, and one that was imported in part the rest. */
async function countCreations(context: CommandContext, account: number, list: OpenStockList): Promise<LineCounts> {
  const { usable, digest, certifications } = list.reading
  const { completedBulks } = await findCreationRun(context, account, { usable, digest })
  const unchanged = Math.min(completedBulks * BULK_SIZE, usable)
  const counts = { created: usable - unchanged, changed: 0, unchanged }
  if (completedBulks === 0) return { ...counts, certifications }
  let remaining = 0
  let bulkIndex = 0
  for await (const { creates } of planCreations(list.lines))
    if (bulkIndex++ >= completedBulks) remaining += creates.reduce((sum, { reports }) => sum + reports.length, 0)
  return { ...counts, certifications: remaining }
}

/** The run of new stones of a file: the same for the same lines of the same file, by HTTP and on the command line. */
export const findCreationRun = (
  context: CommandContext,
  account: number,
  { usable, digest }: Pick<Reading, 'usable' | 'digest'>,
) => findResumePoint(context, { account, digest, bulkCount: Math.ceil(usable / BULK_SIZE), ignoresComplete: false })

async function countUpdates(
  { inventory }: ImportCommandContext,
  account: number,
  { reading, lines }: OpenStockList,
  stock: AccountStock,
): Promise<LineCounts> {
  const stones = indexStones(stock)
  let changed = 0
  let { certifications } = reading
  for await (const { updates } of planUpdates(lines, stones)) {
    const diamonds = await inventory.diamonds(updates.map(({ id }) => id))
    for (const update of updates) {
      const diamond = diamonds.get(update.id)
      if (diamond?.status !== 'live') continue
      const events = await planUpdate(update, { owner: account }, takeNoId).decide(diamond)
      if (events.length > 0) changed++
      certifications += events.filter(({ type }) => type === 'CertificationAttached').length
    }
  }
  const { newStones, usable } = reading
  return { created: newStones, changed, unchanged: usable - newStones - changed, certifications }
}

/** @param unchanged stones that an earlier import of the same file has created */
const describeEarlierImport = (unchanged: number): readonly string[] =>
  unchanged === 0
    ? []
    : [
        `stones that were already imported from this file, and are not created again: ${unchanged} (by=sku updates them)`,
      ]

const describeUnrestorable = (stones: number): readonly string[] =>
  stones === 0
    ? []
    : [`stones to delete that have a PDF of a report or a 3D model, which an undo cannot restore: ${stones}`]
