import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
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
import { BytesMissing, type FileStore } from '../stores/ports/file-store.ts'
import type { OpenStockList } from '../trade-files/reading.ts'
import { StockListReader } from '../trade-files/reader/stock-list-reader.ts'
import type { Installation } from './installation.ts'
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

/** Parsers need a file on this machine; it lives as long as the list is open. */
async function withLocalCopy(
  files: FileStore,
  digest: string,
  open: (file: string, folder: string) => Promise<OpenStockList>,
): Promise<OpenStockList> {
  const folder = await mkdtemp(join(tmpdir(), 'adamant-import-'))
  const openCopy = async () => {
    const content = await files.readFile(digest)
    if (content === undefined)
      throw new BytesMissing(`The event log refers to file ${digest}, which the file store does not have`)
    const file = join(folder, 'stock-list')
    await pipeline(content, createWriteStream(file, { mode: 0o600 }))
    return open(file, folder)
  }
  return withRelease(openCopy, () => rm(folder, { recursive: true, force: true }))
}

/** Releases what an open list needs when the list is closed, or cannot be opened. */
async function withRelease(
  open: () => Promise<OpenStockList>,
  release: () => void | Promise<void>,
): Promise<OpenStockList> {
  try {
    const list = await open()
    return {
      ...list,
      async close() {
        await list.close()
        await release()
      },
    }
  } catch (error) {
    await release()
    throw error
  }
}
