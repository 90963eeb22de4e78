import { collectFindings, type Findings, type UsableLine } from './findings.ts'
import type { KnownStock } from './known-stones.ts'
import { readLines } from './lines.ts'
import type { ImportSource } from './source.ts'

/** A file whose lines were all validated. */
type StockList = {
  readonly findings: Findings
  /** Reads the file again. */
  usableLines(): AsyncGenerator<UsableLine>
}

/**
 * Validates all lines of a file.
 * @param stock for an update by sku; without it, every line is a new stone
 * @throws UnreadableFile, system errors
 */
export async function readStockList(source: ImportSource, stock: KnownStock | undefined): Promise<StockList> {
  const mode = stock === undefined ? 'new stones' : 'stones by sku'
  const lines = () => readLines(source.entries(), mode, stock?.customShapes)
  const findings = await collectFindings(lines(), stock)
  return { findings, usableLines: () => findings.usableLines(lines()) }
}
