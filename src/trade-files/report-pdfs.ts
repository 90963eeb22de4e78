import type { ReportFile } from '../domain/certification/certification.ts'
import { normaliseReportNumber } from '../domain/certification/lab-grown.ts'
import type { StatedReport } from '../domain/certification/stated-report.ts'
import { comparisonKey } from '../domain/visible-text.ts'
import { listFirst } from './errors.ts'
import type { ImportLine } from './lines.ts'

/** A PDF that came with a stock list. `name` is that in the archive, without folders. */
export type ReportPdf = { readonly name: string; readonly file: ReportFile }

/** A file of an archive that is not used, and why, as the end of a sentence. */
export type LeftOutFile = { readonly name: string; readonly reason: string }

/** The PDFs that came with a stock list, by the sku or report number that they are named after. */
export class ReportPdfs {
  readonly #bySku = new Map<string, ReportPdf>()
  readonly #byNumber = new Map<string, ReportPdf>()

  /** @param leftOut files that came with them and are not used */
  constructor(
    private readonly pdfs: readonly ReportPdf[],
    private readonly leftOut: readonly LeftOutFile[],
  ) {
    for (const pdf of pdfs) {
      const stem = pdf.name.replace(PDF_EXTENSION, '')
      this.#bySku.set(comparisonKey(stem), pdf)
      if (/\d/.test(stem)) this.#byNumber.set(normaliseReportNumber(stem), pdf)
    }
  }

  /**
   * Adds to each line the PDF of its report, or a note that it cannot be attached.
   * @param onFound called with the name of each PDF that belongs to a line
   */
  async *addTo(lines: AsyncIterable<ImportLine>, onFound?: (name: string) => void): AsyncGenerator<ImportLine> {
    for await (const line of lines) {
      const pdf = 'change' in line ? this.#find(line.change.set.sku, line.report) : undefined
      if (pdf === undefined || !('change' in line)) {
        yield line
        continue
      }
      onFound?.(pdf.name)
      const { report, notes = [] } = line
      if (report === undefined || report === null)
        yield {
          ...line,
          notes: [...notes, `${pdf.name} is not attached: the line has no laboratory and report number`],
        }
      else yield { ...line, report: { ...report, file: pdf.file } }
    }
  }

  #find(sku: string | undefined, report: StatedReport | null | undefined): ReportPdf | undefined {
    const named = sku === undefined ? undefined : this.#bySku.get(comparisonKey(sku))
    return named ?? (report ? this.#byNumber.get(normaliseReportNumber(report.number)) : undefined)
  }

  /** What became of the files. @param found names of the PDFs that belong to a line */
  remarks(found: ReadonlySet<string>): readonly string[] {
    const unknown = this.pdfs.filter(({ name }) => !found.has(name)).map(({ name }) => name)
    const byReason = Map.groupBy(this.leftOut, ({ reason }) => reason)
    return [
      ...(found.size === 0 ? [] : [`PDFs that belong to a line: ${found.size} of ${this.pdfs.length}`]),
      ...(unknown.length === 0
        ? []
        : [`left out, since no valid line has their sku or report number: ${listFirst(unknown)} (${unknown.length})`]),
      ...[...byReason].map(
        ([reason, files]) => `left out, since ${reason}: ${listFirst(files.map(({ name }) => name))} (${files.length})`,
      ),
    ]
  }
}

export const PDF_EXTENSION = /\.pdf$/i

export const NO_PDFS = new ReportPdfs([], [])
