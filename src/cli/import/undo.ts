import { existsSync, readFileSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { requestStream } from '../../commands/bulk/request-record.ts'
import { latestPosition } from '../../commands/core/append.ts'
import type { CommandContext } from '../../commands/core/handle.ts'
import { AlreadyApplied } from '../../commands/diamonds/change-stock.ts'
import type { CommandPrincipal } from '../../commands/diamonds/diamonds.ts'
import {
  findUndoConflicts,
  undoChanges,
  type DiamondUndoRequest,
  type DiamondUndoResult,
} from '../../commands/diamonds/undo-changes.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import type { Installation } from '../../wiring/installation.ts'
import { BadUsage, OperationFailure } from '../../maintenance/operation.ts'
import { createOperatorOrigin, withInstallation, type OpenInstallation } from '../with-installation.ts'
import { formatCount, note, printResult, progressBar, type OutputOptions } from '../output.ts'
import { awaitReadModels } from '../await-read-models.ts'
import { listenForStop, type StopSignal } from '../process-exit.ts'
import { finishAndReadBulk, doneBulks, inventoryOf } from './write.ts'

/**
 * What it takes to find again what an import did: the log itself has it all. Written before the first change, so that an
 * import that was killed can be taken back too.
 */
const undoFileSchema = z.object({
  format: z.literal('adamant-undo/1'),
  /** Of the import: the records of its bulks and the `$correlationId` of its events are made of it. */
  import: z.uuid(),
  account: z.int().positive(),
  email: z.string(),
  /** The log's identity. */
  log: z.string(),
  file: z.string(),
  /** ISO 8601, UTC. */
  at: z.string(),
})

export type UndoFile = z.infer<typeof undoFileSchema>

/** The folder of undo files, below DATA_DIR. */
const FOLDER = 'undo'

/** Writes it so that it outlives a fall of power. @returns its path */
export async function writeUndoFile(dataDir: string, undo: UndoFile): Promise<string> {
  const folder = join(resolve(dataDir), FOLDER)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `import-${undo.at.replaceAll(/[-:]|\.\d+/g, '')}-${undo.import.slice(0, 8)}.json`)
  const file = await open(path, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(undo)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  const parent = await open(folder)
  await parent.sync().finally(() => parent.close())
  return path
}

/** @throws BadUsage for what is no undo file */
function readUndoFile(path: string): UndoFile {
  if (!existsSync(path)) throw new BadUsage(`--undo ${path}: there is no such file`)
  const { data } = undoFileSchema.safeParse(jsonOf(readFileSync(path, 'utf8')))
  if (data !== undefined) return data
  throw new BadUsage(`--undo ${path}: it is no undo file; import says the name of the one that it writes`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // No JSON is no undo file either.
  }
}

type UndoOptions = OutputOptions & { readonly skipBad?: true; readonly dryRun?: true }

/**
 * `import --undo`: takes back what an import has done, bulk by bulk as it was done. Killed, it goes on where it was: each
 * bulk that was taken back has a record.
 */
export async function undoImport(open: OpenInstallation, path: string, options: UndoOptions): Promise<void> {
  const undo = readUndoFile(path)
  await withInstallation(open, async (installation) => {
    if ((await installation.store.identity()) !== undo.log) {
      throw new OperationFailure(`${path} is of another installation: what it takes back is not here`)
    }
    const { bulks, stones } = await findRemainingBulks(installation, undo)
    const refused = await reportConflicts(installation, bulks)
    const result = { created: 0, changed: 0, unchanged: 0, deleted: 0, refused, mapping: {}, undo: null }
    if (refused > 0 && options.skipBad !== true) {
      if (options.json === true) printResult(options, result, '')
      throw new OperationFailure(
        `${formatCount(refused)} stones were changed since the import; nothing was taken back (--skip-bad leaves them as they are)`,
      )
    }
    if (options.dryRun === true) {
      const text = `${formatCount(stones - refused)} stones would be as before the import; nothing was taken back`
      return printResult(options, result, text)
    }
    const { position, ...counts } = await undoBulks(installation, undo, { bulks, stones, signal: listenForStop() })
    await awaitReadModels(installation, position ?? 'start')
    const { created, changed, deleted } = counts
    const left = counts.refused === 0 ? '' : `, left ${formatCount(counts.refused)} that were changed since`
    const text = `brought back ${formatCount(created)}, changed back ${formatCount(changed)}, deleted ${formatCount(deleted)} stones of ${undo.email}${left}`
    printResult(options, { ...result, ...counts }, text)
  })
}

/** What was not taken back yet; held in memory by its numbers alone. */
export async function findRemainingBulks(
  { writing }: { readonly writing: CommandContext },
  undo: Pick<UndoFile, 'import'>,
): Promise<{ bulks: DiamondUndoRequest[]; stones: number }> {
  const bulks: DiamondUndoRequest[] = []
  let number = 0
  let stones = 0
  for await (const { diamonds } of doneBulks(writing, undo.import)) {
    const record = requestStream('import', 'undo', undo.import, number++)
    if ((await finishAndReadBulk(writing, record)) !== undefined) continue
    bulks.push({ record, correlation: undo.import, diamonds })
    stones += diamonds.length
  }
  return { bulks, stones }
}

/** Stones that are named; all are counted. */
const MAX_LISTED_CONFLICTS = 1_000

/** Names the stones that somebody changed since. @returns how many there are */
async function reportConflicts({ store }: Installation, bulks: readonly DiamondUndoRequest[]): Promise<number> {
  let conflicts = 0
  for (const bulk of bulks) {
    for (const { id, sku, by, at } of await findUndoConflicts(store, bulk)) {
      if (conflicts++ < MAX_LISTED_CONFLICTS)
        note(`diamond ${id}${sku === '' ? '' : `, sku ${sku},`} was changed by ${by} at ${at}`)
    }
  }
  return conflicts
}

export type RemainingBulks = {
  readonly bulks: readonly DiamondUndoRequest[]
  readonly stones: number
  readonly signal: StopSignal
}

/** Takes it back, bulk by bulk. @throws Failed where it was stopped */
export async function undoBulks(
  installation: { readonly writing: CommandContext },
  { account }: Pick<UndoFile, 'account'>,
  { bulks, stones, signal }: RemainingBulks,
): Promise<DiamondUndoResult> {
  const by: CommandPrincipal = { owner: account, origin: createOperatorOrigin() }
  const inventory = inventoryOf(installation, by)
  const bar = progressBar('taking back', stones, 'stones')
  const sum = { created: 0, changed: 0, deleted: 0, unchanged: 0, refused: 0 }
  let position: Position | undefined
  let passed = 0
  for (const [index, bulk] of bulks.entries()) {
    try {
      const undone = await undoChanges(inventory, by, bulk)
      for (const name of ['created', 'changed', 'deleted', 'unchanged', 'refused'] as const) sum[name] += undone[name]
      position = latestPosition([position, undone.position])
    } catch (error) {
      // Another process takes the same import back, and was first here.
      if (!(error instanceof AlreadyApplied)) throw error
    }
    bar.update((passed += bulk.diamonds.length))
    if (signal.isReceived && index < bulks.length - 1) {
      throw new OperationFailure(
        `Stopped: ${formatCount(passed)} of ${formatCount(stones)} stones were taken back; the same command goes on`,
      )
    }
  }
  bar.end()
  return { ...sum, position }
}
