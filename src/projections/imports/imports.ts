import {
  dueAt,
  importOwnerOf,
  IMPORTS_STREAM_PREFIX,
  stockImportsFold,
  type StockImport,
  type StockImportEvent,
} from '../../domain/imports/stock-import.ts'
import { decode } from '../../events/decode.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { defineReadModel } from '../engine/read-model.ts'

/** An import, its owner, and the revision of the account's stream at its last change. */
type ImportView = { readonly stockImport: StockImport; readonly owner: number; readonly revision: number }

/**
 * The imports of all accounts: finds the owner of an import, the files that are in use, and what is due: imports whose stones
 * must be written or undone, and those whose time is over.
 */
export const imports = defineReadModel<ImportView>({
  name: 'imports',
  version: 1,
  streamPrefixes: [IMPORTS_STREAM_PREFIX],
  documents: {
    fields: { id: 'text', owner: 'integer', file: 'text', reading: 'text', due: 'integer' },
    texts: ['state'],
    indexes: [['file'], ['reading'], ['due']],
    counts: [],
  },
  keyOf: (event) => decode<StockImportEvent>(event).data.id,
  createsDocument: ({ type }) => type === 'ImportUploaded',
  evolve,
  toDocument: ({ stockImport, owner, revision }) => ({
    id: stockImport.id,
    owner,
    file: stockImport.file?.digest ?? '',
    reading: stockImport.reading.digest,
    due: dueAt(stockImport),
    state: JSON.stringify({ stockImport, owner, revision }),
  }),
  fromDocument: ({ state }) => JSON.parse(String(state)) as ImportView,
})

function evolve(view: ImportView | undefined, event: StoredEvent): ImportView | undefined {
  const revision = Number(event.revision)
  if (view !== undefined && revision <= view.revision) return view
  const before = view === undefined ? stockImportsFold.initialState : [view.stockImport]
  const [stockImport] = stockImportsFold.evolve(before, decode<StockImportEvent>(event))
  return stockImport === undefined ? undefined : { stockImport, owner: importOwnerOf(event.stream), revision }
}

const PAGE_SIZE = 1_000

/** The accounts whose imports are due. @param now milliseconds since 1970 */
export async function accountsWithDueImports(model: Pick<ReadModel, 'find'>, now: number): Promise<readonly number[]> {
  const documents = await model.find({
    where: { due: { to: now } },
    order: [['due', 'asc']],
    limit: PAGE_SIZE,
    offset: 0,
    select: ['owner'],
  })
  return [...new Set(documents.map(({ owner }) => Number(owner)))]
}
