import { collectFindings, type Findings, type KnownStones, type UsableLine } from './findings.ts'
import { readLines } from './lines.ts'
import type { ImportSource } from './source.ts'

/** The stones of an account before an import by sku. */
export type KnownStock = KnownStones & {
  /** Cut shapes outside of the dictionary that any of the stones ever had. */
  readonly customShapes: ReadonlySet<string>
}

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
