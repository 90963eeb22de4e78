import { existsSync, readFileSync } from 'node:fs'
import { mkdir, open, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { findUndoConflicts, type DiamondUndoRequest } from '../../commands/diamonds/undo-changes.ts'
import { findRemainingBulks, undoBulks } from '../../commands/imports/undo-bulks.ts'
import type { Installation } from '../../wiring/installation.ts'
import { BadUsage, OperationFailure } from '../../maintenance/operation.ts'
import { createOperatorOrigin, withInstallation, type OpenInstallation } from '../with-installation.ts'
import { formatCount, formatQuantity, note, printResult, progressBar, type OutputOptions } from '../output.ts'
import { awaitReadModels } from '../await-read-models.ts'
import { listenForStop, stoppedAfter } from '../process-exit.ts'

/**
 * Identifies an import; its changes are in the event log. Written before the first change, so that an interrupted import can
 * be undone too.
 */
const undoFileSchema = z.object({
  format: z.literal('adamant-undo/1'),
  /** Id of the import: the request streams of its bulks derive from it, and it is the `$correlationId` of its events. */
  import: z.uuid(),
  account: z.int().positive(),
  email: z.string(),
  /** The log's identity. */
  log: z.string(),
  file: z.string(),
  /** ISO 8601, UTC. */
  at: z.string(),
})

type UndoFile = z.infer<typeof undoFileSchema>

/** Folder of undo files in DATA_DIR. */
const FOLDER = 'undo'

/** Writes and syncs the undo file, so that it survives a power failure. @returns its path */
export async function writeUndoFile(dataDir: string, undo: UndoFile): Promise<string> {
  const folder = join(resolve(dataDir), FOLDER)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `import-${undo.at.replaceAll(/[-:]|\.\d+/g, '')}-${undo.import.slice(0, 8)}.json`)
  await writeFile(path, `${JSON.stringify(undo)}\n`, { mode: 0o600, flush: true })
  const folderHandle = await open(folder)
  await folderHandle.sync().finally(() => folderHandle.close())
  return path
}

/** @throws OperationFailure if it is missing, BadUsage if it is not an undo file */
function readUndoFile(path: string): UndoFile {
  if (!existsSync(path)) throw new OperationFailure(`--undo ${path}: file not found`)
  const { data } = undoFileSchema.safeParse(jsonOf(readFileSync(path, 'utf8')))
  if (data !== undefined) return data
  throw new BadUsage(`--undo ${path}: not an undo file; an import prints the path of its undo file`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type UndoOptions = OutputOptions & { readonly skipBad?: true; readonly dryRun?: true }

/**
 * `import --undo`: undoes an import bulk by bulk. An interrupted undo resumes when it is run again, since each undone bulk is
 * recorded in the event log.
 */
export async function undoImport(open: OpenInstallation, path: string, options: UndoOptions): Promise<void> {
  const undo = readUndoFile(path)
  await withInstallation(open, async (installation) => {
    if ((await installation.store.identity()) !== undo.log) {
      throw new OperationFailure(`${path} belongs to another installation`)
    }
    const bulks = await findRemainingBulks(installation.context, undo.import)
    const stones = bulks.reduce((sum, { diamonds }) => sum + diamonds.length, 0)
    const refused = await reportConflicts(installation, bulks)
    const result = { created: 0, changed: 0, unchanged: 0, deleted: 0, refused, mapping: {}, undo: null }
    if (refused > 0 && options.skipBad !== true) {
      if (options.json === true) printResult(options, result, '')
      throw new OperationFailure(
        `Stones changed since the import: ${formatCount(refused)}; nothing was undone (use --skip-bad to skip them)`,
      )
    }
    if (options.dryRun === true) {
      const text = `Would restore ${formatQuantity(stones - refused, 'stone')} to the state before the import; nothing was undone`
      return printResult(options, result, text)
    }
    const signal = listenForStop()
    const bar = progressBar('undoing', stones, 'stones')
    const principal = { owner: undo.account, origin: createOperatorOrigin() }
    const { position, ...counts } = await undoBulks(installation.context, principal, bulks, (undone) => {
      bar.update(undone)
      if (signal.aborted && undone < stones)
        throw stoppedAfter(`${formatCount(undone)} of ${formatQuantity(stones, 'stone')}`)
    })
    bar.end()
    await awaitReadModels(installation, position ?? 'start')
    const { created, changed, deleted } = counts
    const skippedText = counts.refused === 0 ? '' : `, skipped ${formatCount(counts.refused)} (changed since)`
    const text = `Stones of ${undo.email}: recreated ${formatCount(created)}, reverted ${formatCount(changed)}, deleted ${formatCount(deleted)}${skippedText}`
    printResult(options, { ...result, ...counts }, text)
  })
}

const MAX_LISTED_CONFLICTS = 1_000

/** Notes stones that were changed since the import, at most MAX_LISTED_CONFLICTS. @returns the number of all such stones */
async function reportConflicts({ store }: Installation, bulks: readonly DiamondUndoRequest[]): Promise<number> {
  let conflictCount = 0
  for (const bulk of bulks) {
    for (const { id, sku, by, at } of await findUndoConflicts(store, bulk)) {
      if (conflictCount++ < MAX_LISTED_CONFLICTS)
        note(`diamond ${id}${sku === '' ? '' : `, sku ${sku},`} was changed by ${by} at ${at}`)
    }
  }
  return conflictCount
}
