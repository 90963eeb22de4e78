import { tmpdir } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { countDone } from '../commands/imports/run-import.ts'
import type { ImportCommandContext } from '../commands/imports/understand.ts'
import type { StockImport } from '../domain/imports/stock-import.ts'
import { visibleText } from '../domain/visible-text.ts'
import type { DiamondQueries } from '../projections/diamonds/diamond-queries.ts'
import type { OpenReadModel } from '../projections/engine/background-services.ts'
import type { ImportServices } from '../http/imports/resource.ts'
import { ImportRunner, type ImportTools } from '../reactions/imports/import-runner.ts'
import { FairSemaphore } from '../runtime/fairness/semaphores.ts'
import { readIntactFile } from '../stores/intact-file.ts'
import { StockListReader } from '../trade-files/reader/stock-list-reader.ts'
import type { Installation } from './installation.ts'
import { removeAbandonedCopies, withLocalCopy, withRelease } from './local-copies.ts'
import type { ServiceParts } from './service-parts.ts'

export type OpenImports = {
  readonly services: Omit<ImportServices['imports'], 'uploads'>
  readonly tools: ImportTools
}

/** Files that are read for requests at the same time; each process takes up to 1 GiB. */
const MAX_CONCURRENT_READINGS = 2

/** Opens the imports of stock lists: the reading of files, and the writing of their stones. */
export function openImports(
  { files, context, log }: Installation,
  queries: DiamondQueries,
  importModel: OpenReadModel,
  parts: ServiceParts,
): OpenImports {
  const warn = (err: unknown) =>
    log.warn({ err }, 'copies of stock lists that killed processes left behind were not removed')
  removeAbandonedCopies(tmpdir(), Date.now()).catch(warn)
  const reader = new StockListReader()
  parts.add({ stage: 'requests', name: 'the reader of stock lists', stop: async () => reader.close() })
  const importContext: ImportCommandContext = {
    ...context,
    files,
    readFile: (digest) => readIntactFile(files, digest),
    openStockList: (_account, digest, request) =>
      withLocalCopy(files, digest, (file, folder) => reader.open({ file, folder, ...request })),
    inventory: {
      stock: (account) => readAccountStock(queries, account),
      async diamonds(ids) {
        return new Map((await queries.findDiamonds(ids)).map((diamond) => [diamond.id, diamond]))
      },
    },
  }
  const importRunner = new ImportRunner({
    context: importContext,
    importModel,
    diamondProgress: queries.progress,
    // Only an abort rejects.
    sleep: (ms, signal) => pause(ms, undefined, { signal }).catch(() => undefined),
    log,
  })
  const permits = new FairSemaphore(MAX_CONCURRENT_READINGS)
  const requestContext: ImportCommandContext = {
    ...importContext,
    async openStockList(account, ...args) {
      const release = await permits.acquire({ names: [`account ${account}`], isPriority: false })
      return withRelease(() => importContext.openStockList(account, ...args), release)
    },
  }
  const services = {
    context: requestContext,
    readModel: importModel,
    doneOf: async (stockImport: StockImport) =>
      importRunner.doneOf(stockImport.id) ?? countDone(importContext, stockImport),
  }
  return { services, tools: { importRunner } }
}

async function readAccountStock(queries: DiamondQueries, account: number) {
  const skus: [id: number, sku: string][] = []
  const customShapes = new Set<string>()
  const idsWithFiles = new Set<number>()
  for await (const views of queries.pagesOf(account)) {
    for (const { diamond } of views) {
      const { id, fields, certifications, model } = diamond
      skus.push([id, visibleText(fields.sku)])
      if (typeof fields.cutShape === 'string') customShapes.add(fields.cutShape)
      if (model !== undefined || certifications.some(({ file }) => file !== null)) idsWithFiles.add(id)
    }
  }
  return { skus, customShapes: [...customShapes], idsWithFiles }
}
