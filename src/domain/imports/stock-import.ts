import { z } from 'zod'
import { declareEvents, TIME, type EventOf, type SchemaOutput } from '../event.ts'
import type { Fold } from '../fold.ts'
import { RequestError } from '../request-error.ts'

/** Hours that the file of an import that was not applied is kept, and days that an import is listed. */
const FILE_KEPT_MS = 24 * 3_600_000
const LISTED_MS = 30 * 24 * 3_600_000

/** Imports of an account that were not applied yet. */
const MAX_UNAPPLIED = 10

const id = z.string().describe('id, as in the URL')
const storedFile = z.object({ digest: z.string(), bytes: z.int().min(0) })
const texts = z.record(z.string(), z.string())
const options = z
  .object({
    by: z.literal('sku').optional(),
    deleteMissing: z.literal(true).optional(),
    skipBad: z.literal(true).optional(),
    sheet: z.string().optional(),
    decimal: z.enum(['.', ',']).optional(),
    map: texts.optional(),
    mapValue: z.record(z.string(), texts).optional(),
  })
  .describe('how the file is read, and what is written')
const reading = storedFile.describe('stored JSON: what was understood of the file')
const outcome = z
  .enum(['asking', 'invalid', 'ready'])
  .describe('whether questions must be answered, lines have errors, or the import can be applied')
const released = z.array(z.string()).describe('digests of files that the import no longer needs')
const count = z.int().min(0)
const counts = z
  .object({ created: count, changed: count, unchanged: count, deleted: count, certifications: count })
  .describe('numbers of stones, and of certifications that were attached')

/** An account's uploaded files and what was made of them. All imports of an account are in one stream, so that one is applied at a time. */
export const stockImportEvents = declareEvents('imports-{account}', {
  ImportUploaded: {
    about: 'A stock list was uploaded and read. Nothing of it is written to the inventory yet.',
    payload: z.object({ id, name: z.string().nullable(), file: storedFile, options, reading, outcome, at: TIME }),
  },
  ImportRead: {
    about: 'An uploaded stock list was read again, with other options.',
    payload: z.object({ id, options, reading, outcome, released }),
  },
  ImportStarted: {
    about: 'The account applies an import: its stones are written in bulks.',
    payload: z.object({
      id,
      run: z.uuid().describe('correlation id of the events of the bulks'),
      completedBulks: count.describe('bulks that an earlier, interrupted import of the same file has written'),
      total: count.describe('number of stones'),
    }),
  },
  ImportApplied: {
    about: 'All bulks of the import are written. Its file is no longer needed.',
    payload: z.object({ id, counts, released }),
  },
  ImportFailed: { about: 'The import stopped.', payload: z.object({ id, why: z.string(), released }) },
  ImportUndoStarted: {
    about: 'The account undoes an import.',
    payload: z.object({
      id,
      skipChanged: z.boolean().describe('whether stones that were changed since stay as they are'),
    }),
  },
  ImportUndone: {
    about: 'The import was undone.',
    payload: z.object({
      id,
      counts: z
        .object({ restored: count, left: count })
        .describe('numbers of stones that are as before, and of those that were changed or deleted since'),
    }),
  },
  ImportUndoRefused: {
    about: 'Nothing was undone, since stones were changed after the import.',
    payload: z.object({ id, why: z.string() }),
  },
  ImportExpired: {
    about: 'The import was not applied within a day. Its file is no longer needed.',
    payload: z.object({ id, released }),
  },
  ImportDeleted: {
    about: 'The import was deleted by its account, or after 30 days. What it wrote stays.',
    payload: z.object({ id, released }),
  },
})
export type StockImportEvent = EventOf<typeof stockImportEvents>
export type ImportFilesReleased = EventOf<
  typeof stockImportEvents,
  'ImportRead' | 'ImportApplied' | 'ImportFailed' | 'ImportExpired' | 'ImportDeleted'
>

export type StoredImportFile = SchemaOutput<typeof storedFile>
export type ImportOptions = SchemaOutput<typeof options>
export type ImportOutcome = SchemaOutput<typeof outcome>
export type ImportCounts = SchemaOutput<typeof counts>
type UndoCounts = EventOf<typeof stockImportEvents, 'ImportUndone'>['data']['counts']

export const IMPORT_STATES = [...outcome.options, 'applying', 'applied', 'undoing', 'undone', 'failed'] as const
type ImportState = (typeof IMPORT_STATES)[number]

export type StockImport = {
  readonly id: string
  readonly state: ImportState
  readonly name: string | null
  /** Null once it is no longer needed. */
  readonly file: StoredImportFile | null
  readonly options: ImportOptions
  readonly reading: StoredImportFile
  /** When it was uploaded, milliseconds since 1970. */
  readonly at: number
  /** The run that applies it. */
  readonly run?: Pick<EventOf<typeof stockImportEvents, 'ImportStarted'>['data'], 'run' | 'completedBulks' | 'total'>
  readonly counts?: ImportCounts
  readonly undoCounts?: UndoCounts
  /** Whether an undo skips stones that were changed since. */
  readonly skipChanged?: boolean
  /** Why it failed, or could not be undone. */
  readonly why?: string
}

/** An account's imports, oldest first. */
export type StockImports = readonly StockImport[]

/** The prefix of streams of imports: one stream per account. */
export const IMPORTS_STREAM_PREFIX = 'imports-'
export const importsStream = (account: number): string => `${IMPORTS_STREAM_PREFIX}${account}`

/** `imports-7` → 7 */
export const importOwnerOf = (stream: string): number => Number(stream.slice(IMPORTS_STREAM_PREFIX.length))

export const stockImportsFold: Fold<StockImports, StockImportEvent> = { initialState: [], evolve }

function evolve(imports: StockImports, event: StockImportEvent): StockImports {
  const { type, data } = event
  if (type === 'ImportUploaded') {
    const { outcome: state, ...uploaded } = data
    return [...imports, { ...uploaded, state }]
  }
  if (type === 'ImportDeleted') return imports.filter((one) => one.id !== data.id)
  return imports.map((one) => (one.id === data.id ? evolveImport(one, event) : one))
}

function evolveImport(stockImport: StockImport, { type, data }: StockImportEvent): StockImport {
  switch (type) {
    case 'ImportRead': {
      const { options: newOptions, reading: newReading, outcome: state } = data
      return { ...stockImport, options: newOptions, reading: newReading, state }
    }
    case 'ImportStarted': {
      const { run, completedBulks, total } = data
      return { ...stockImport, state: 'applying', run: { run, completedBulks, total } }
    }
    case 'ImportApplied':
      return { ...stockImport, state: 'applied', file: null, counts: data.counts }
    case 'ImportFailed':
      return { ...stockImport, state: 'failed', file: null, why: data.why }
    case 'ImportUndoStarted':
      return { ...stockImport, state: 'undoing', skipChanged: data.skipChanged }
    case 'ImportUndone':
      return { ...stockImport, state: 'undone', undoCounts: data.counts }
    case 'ImportUndoRefused':
      return { ...stockImport, state: 'applied', why: data.why }
    case 'ImportExpired':
      return {
        ...stockImport,
        state: 'failed',
        file: null,
        why: 'It was not applied within 24 hours; upload the file again',
      }
    default:
      return stockImport
  }
}

export type NewImport = Omit<EventOf<typeof stockImportEvents, 'ImportUploaded'>['data'], 'at'>

/** @param now milliseconds since 1970 @throws RequestError invalid if too many imports of the account wait to be applied */
export function uploadImport(imports: StockImports, newImport: NewImport, now: number): StockImportEvent[] {
  requireRoom(imports)
  return [{ type: 'ImportUploaded', data: { ...newImport, at: now } }]
}

/** Called before a file is read, too. @throws RequestError invalid */
export function requireRoom(imports: StockImports): void {
  if (imports.filter(isUnapplied).length < MAX_UNAPPLIED) return
  const message = `An account has at most ${MAX_UNAPPLIED} imports that are not applied; delete one that is not needed`
  throw new RequestError('invalid', message)
}

/** Whether it can still be read in another way. */
export const isUnapplied = ({ state }: StockImport): boolean => outcome.options.some((one) => one === state)

/** @throws RequestError missing, or conflict if it is applied or has no file any more */
export function requireUnapplied(
  imports: StockImports,
  importId: string,
): StockImport & { readonly file: StoredImportFile } {
  const stockImport = requireImport(imports, importId)
  const { state, file } = stockImport
  if (isUnapplied(stockImport) && file !== null) return { ...stockImport, file }
  throw new RequestError('conflict', `Only an import that is not applied can be changed; this one is ${state}`)
}

/** @throws RequestError as `requireUnapplied` */
export function readImport(
  imports: StockImports,
  data: Omit<EventOf<typeof stockImportEvents, 'ImportRead'>['data'], 'released'>,
): StockImportEvent[] {
  const { reading: previous } = requireUnapplied(imports, data.id)
  const isSame = previous.digest === data.reading.digest
  return [{ type: 'ImportRead', data: { ...data, released: isSame ? [] : [previous.digest] } }]
}

/** @throws RequestError missing, or conflict if it is not ready, was read again meanwhile, or another import of the account is at work */
export function startImport(
  imports: StockImports,
  {
    reading: { digest },
    ...data
  }: EventOf<typeof stockImportEvents, 'ImportStarted'>['data'] & { readonly reading: StoredImportFile },
): StockImportEvent[] {
  const stockImport = requireImport(imports, data.id)
  if (stockImport.state !== 'ready') throw new RequestError('conflict', describeNotReady(stockImport))
  if (stockImport.reading.digest !== digest)
    throw new RequestError('conflict', 'The import was changed by another request')
  requireNoneAtWork(imports)
  return [{ type: 'ImportStarted', data }]
}

const describeNotReady = ({ state }: StockImport): string => {
  if (state === 'asking') return 'The import cannot be applied before its questions are answered'
  if (state === 'invalid')
    return 'The import cannot be applied, since lines have errors; correct them, or set skipBad to leave them out'
  return `Only an import that is ready can be applied; this one is ${state}`
}

function requireNoneAtWork(imports: StockImports): void {
  const other = imports.find(isAtWork)
  if (other === undefined) return
  throw new RequestError('conflict', `Another import of the account is at work: ${other.id} is ${other.state}`)
}

/** Whether bulks are written or undone. */
export const isAtWork = ({ state }: StockImport): boolean => state === 'applying' || state === 'undoing'

/** No event unless the import is being applied. */
export function endImport(
  imports: StockImports,
  importId: string,
  result: { readonly counts: ImportCounts } | { readonly why: string },
): StockImportEvent[] {
  const stockImport = imports.find((one) => one.id === importId)
  if (stockImport?.state !== 'applying') return []
  const released = fileOf(stockImport)
  return 'counts' in result
    ? [{ type: 'ImportApplied', data: { id: importId, counts: result.counts, released } }]
    : [{ type: 'ImportFailed', data: { id: importId, why: result.why, released } }]
}

const fileOf = ({ file }: StockImport): readonly string[] => (file === null ? [] : [file.digest])

const filesOf = (stockImport: StockImport): readonly string[] => [...fileOf(stockImport), stockImport.reading.digest]

/** @throws RequestError missing, or conflict if there is nothing to undo, or another import of the account is at work */
export function startUndo(imports: StockImports, importId: string, skipChanged: boolean): StockImportEvent[] {
  const stockImport = requireImport(imports, importId)
  if (!isUndoable(stockImport))
    throw new RequestError(
      'conflict',
      `Only an import that was applied and has changed stones can be undone; this one is ${stockImport.state}`,
    )
  requireNoneAtWork(imports)
  return [{ type: 'ImportUndoStarted', data: { id: importId, skipChanged } }]
}

/** Whether an import has changed something that is not undone. A failed one may have written some bulks. */
export function isUndoable({ state, counts, run }: StockImport): boolean {
  if (state === 'failed') return run !== undefined
  return state === 'applied' && counts !== undefined && counts.created + counts.changed + counts.deleted > 0
}

/** No event unless the import is being undone. */
export const endUndo = (
  imports: StockImports,
  importId: string,
  result: { readonly counts: UndoCounts } | { readonly why: string },
): StockImportEvent[] => {
  if (imports.find((one) => one.id === importId)?.state !== 'undoing') return []
  return 'counts' in result
    ? [{ type: 'ImportUndone', data: { id: importId, counts: result.counts } }]
    : [{ type: 'ImportUndoRefused', data: { id: importId, why: result.why } }]
}

/** @throws RequestError missing, or conflict while it is at work */
export function deleteImport(imports: StockImports, importId: string): StockImportEvent[] {
  const stockImport = requireImport(imports, importId)
  if (isAtWork(stockImport))
    throw new RequestError('conflict', `An import cannot be deleted while it is ${stockImport.state}`)
  return [{ type: 'ImportDeleted', data: { id: importId, released: filesOf(stockImport) } }]
}

/** The events that are due for an account's imports. */
export const expireImports = (imports: StockImports, now: number): StockImportEvent[] =>
  imports
    .filter((one) => !isAtWork(one) && dueAt(one) <= now)
    .map((one) =>
      isUnapplied(one)
        ? { type: 'ImportExpired', data: { id: one.id, released: fileOf(one) } }
        : { type: 'ImportDeleted', data: { id: one.id, released: filesOf(one) } },
    )

/** When the service does something with the import, milliseconds since 1970: 0 for at once. */
export const dueAt = (stockImport: StockImport): number =>
  isAtWork(stockImport) ? 0 : stockImport.at + (isUnapplied(stockImport) ? FILE_KEPT_MS : LISTED_MS)

/** @throws RequestError missing */
export function requireImport(imports: StockImports, importId: string): StockImport {
  const stockImport = imports.find((one) => one.id === importId)
  if (stockImport === undefined) throw new RequestError('missing', `There is no import ${importId}`)
  return stockImport
}
