import { randomBytes, randomUUID } from 'node:crypto'
import * as domain from '../../domain/imports/stock-import.ts'
import {
  importsStream,
  requireImport,
  stockImportsFold,
  type ImportOptions,
  type StockImport,
  type StockImportEvent,
  type StockImports,
} from '../../domain/imports/stock-import.ts'
import type { Origin } from '../../events/event-metadata.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import { BytesMissing, type StoredFile } from '../../stores/ports/file-store.ts'
import type { ReceivedFile } from '../certifications/certifications.ts'
import type { CommandContext } from '../core/command-context.ts'
import { ensureHeldFile, storeContent, withFileHold } from '../core/file-holds.ts'
import { handle, type Decide } from '../core/handle.ts'
import type { CommandPrincipal } from '../diamonds/diamonds.ts'
import { findCreationRun, understand, type ImportCommandContext, type StoredReading } from './understand.ts'

type ChangedImport = { readonly stockImport: StockImport; readonly position: Position | undefined }
type ReadImport = ChangedImport & { readonly reading: StoredReading }

/** @throws StoreUnavailable */
export const importsOf = async ({ store, stateCache }: CommandContext, account: number): Promise<StockImports> =>
  (await stateCache.load(store, importsStream(account), stockImportsFold)).state

/**
 * Stores and reads a stock list. Nothing is written to the inventory.
 * @throws UnreadableFile; UnusableOption; RequestError invalid for options that contradict each other, or too many imports that
 *   wait; WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export async function uploadImport(
  context: ImportCommandContext,
  { owner, origin }: CommandPrincipal,
  { incoming, name }: ReceivedFile,
  options: ImportOptions,
): Promise<ReadImport> {
  domain.requireRoom(await importsOf(context, owner))
  const heldFile = await incoming.keep()
  return withFileHold([heldFile], async () => {
    const file = { digest: heldFile.digest, bytes: heldFile.bytes }
    const id = `im_${randomBytes(16).toString('base64url')}`
    return storeReading(context, { owner, origin }, { id, file, options, heldFile }, (state, now, read) =>
      domain.uploadImport(state, { id, name, file, options, ...read }, now),
    )
  })
}

/**
 * Reads the file of an import again, with other options.
 * @throws RequestError missing; conflict if it is applied; else as `uploadImport`
 */
export async function changeImportOptions(
  context: ImportCommandContext,
  { owner, origin }: CommandPrincipal,
  id: string,
  options: ImportOptions,
): Promise<ReadImport> {
  const { file } = domain.requireUnapplied(await importsOf(context, owner), id)
  return storeReading(context, { owner, origin }, { id, file, options }, (state, _now, read) =>
    domain.readImport(state, { id, options, ...read }),
  )
}

type FileToRead = Pick<StockImport, 'id' | 'options'> & {
  readonly file: domain.StoredImportFile
  readonly heldFile?: StoredFile
}
type ReadResult = { readonly reading: domain.StoredImportFile; readonly outcome: domain.ImportOutcome }

/** The reading is stored and held before the event that refers to it is appended. */
async function storeReading(
  context: ImportCommandContext,
  { owner, origin }: CommandPrincipal,
  { id, file, options, heldFile }: FileToRead,
  decide: (state: StockImports, now: number, read: ReadResult) => StockImportEvent[],
): Promise<ReadImport> {
  const { reading, outcome } = await understand(context, owner, file, options)
  const heldReading = await storeContent(context.files, [Buffer.from(JSON.stringify(reading))])
  return withFileHold([heldReading], async () => {
    const read = { reading: { digest: heldReading.digest, bytes: heldReading.bytes }, outcome }
    const changed = await change(context, owner, id, origin, (state, now) => decide(state, now, read))
    const compensate = () => deleteImport(context, { owner, origin }, id)
    await ensureHeldFile(heldReading, compensate)
    await ensureHeldFile(heldFile, compensate)
    return { ...changed, reading }
  })
}

/** What was understood of an import's file. @throws BytesMissing, StoreUnavailable */
export async function readingOf(
  { readFile }: Pick<ImportCommandContext, 'readFile'>,
  { reading: { digest } }: Pick<StockImport, 'reading'>,
): Promise<StoredReading> {
  const content = await readFile(digest)
  if (content === undefined)
    throw new BytesMissing(`The event log refers to file ${digest}, which the file store does not have`)
  return JSON.parse(content.toString()) as StoredReading
}

/**
 * Starts writing the stones of an import; the service continues.
 * @throws RequestError missing, or conflict if it is not ready or another import of the account is at work; WrongRevision,
 *   OutcomeUnknown, StoreUnavailable
 */
export async function startImport(
  context: ImportCommandContext,
  { owner, origin }: CommandPrincipal,
  id: string,
): Promise<ChangedImport> {
  const stockImport = requireImport(await importsOf(context, owner), id)
  const { usable, digest, would } = await readingOf(context, stockImport)
  const run =
    stockImport.options.by === undefined
      ? await findCreationRun(context, owner, { usable, digest })
      : { id: randomUUID(), completedBulks: 0 }
  const started = { id, run: run.id, completedBulks: run.completedBulks, total: usable + would.deleted }
  return change(context, owner, id, origin, (state) =>
    domain.startImport(state, { ...started, reading: stockImport.reading }),
  )
}

/** @throws RequestError missing, or conflict if there is nothing to undo or another import of the account is at work */
export const startUndo = (
  context: CommandContext,
  { owner, origin }: CommandPrincipal,
  id: string,
  skipChanged: boolean,
): Promise<ChangedImport> => change(context, owner, id, origin, (state) => domain.startUndo(state, id, skipChanged))

/** What the import wrote stays. @throws RequestError missing, or conflict while it is at work */
export async function deleteImport(
  context: CommandContext,
  { owner, origin }: CommandPrincipal,
  id: string,
): Promise<Position | undefined> {
  const target = { stream: importsStream(owner), origin }
  return (await handle(context, target, stockImportsFold, (state) => domain.deleteImport(state, id))).position
}

/** Records what is due: files that were not applied within a day are no longer needed, imports are listed for 30 days. */
export const expireImports = (context: CommandContext, account: number): Promise<void> =>
  recordByService(context, account, domain.expireImports)

/** Records what the service has done with an import; nothing if another process did. */
export async function recordByService(
  context: CommandContext,
  account: number,
  decide: Decide<StockImports, StockImportEvent>,
): Promise<void> {
  await handle(context, { stream: importsStream(account), origin: SERVICE }, stockImportsFold, decide)
}

const SERVICE: Origin = { actor: 'service', via: 'projection', correlation: 'imports' }

async function change(
  context: CommandContext,
  owner: number,
  id: string,
  origin: Origin,
  decide: Decide<StockImports, StockImportEvent>,
): Promise<ChangedImport> {
  const { state, position } = await handle(context, { stream: importsStream(owner), origin }, stockImportsFold, decide)
  return { stockImport: requireImport(state, id), position }
}
