import { collectFindings, type Findings, type UsableLine } from './findings.ts'
import type { KnownStock } from './known-stones.ts'
import { readLines } from './lines.ts'
import type { ReportPdfs } from './report-pdfs.ts'
import type { ImportSource } from './source.ts'

/** A file whose lines were all validated. */
type StockList = {
  readonly findings: Findings
  /** What became of the PDFs that came with it. */
  readonly pdfRemarks: readonly string[]
  /** Reads the file again. */
  usableLines(): AsyncGenerator<UsableLine>
}

/**
 * Validates all lines of a file.
 * @param stock for an update by sku; without it, every line is a new stone
 * @param pdfs those that came with the file
 * @throws UnreadableFile, system errors
 */
export async function readStockList(
  source: ImportSource,
  stock: KnownStock | undefined,
  pdfs: ReportPdfs,
): Promise<StockList> {
  const mode = stock === undefined ? 'new stones' : 'stones by sku'
  const lines = () => readLines(source.entries(), mode, stock?.customShapes)
  const found = new Set<string>()
  const findings = await collectFindings(
    pdfs.addTo(lines(), (name) => found.add(name)),
    stock,
  )
  return {
    findings,
    pdfRemarks: pdfs.remarks(found),
    usableLines: () => findings.usableLines(pdfs.addTo(lines())),
  }
}
