import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { openPromise, type Entry, type ZipFile } from 'yauzl'
import { pdfFileName } from '../domain/certification/certification.ts'
import { MAX_REPORT_BYTES, NotPdf, PdfCheck } from '../domain/certification/pdf-check.ts'
import { checkEntry, explainDamage, UnpackedSize } from './archive.ts'
import { listFirst, UnreadableFile } from './errors.ts'
import { NO_PDFS, PDF_EXTENSION, ReportPdfs, type LeftOutFile, type ReportPdf } from './report-pdfs.ts'
import { isZip } from './text-file-format.ts'

/** Files of an archive. */
const MAX_FILES = 5_000

/** A stock list, alone or with the PDFs of reports. */
type UnpackedUpload = { readonly stockList: string; readonly pdfs: ReportPdfs }

/**
 * Unpacks a ZIP archive of one stock list and PDFs of reports into a folder, each PDF with its SHA-256 as name. Any other file is a
 * stock list.
 * @throws UnreadableFile if the archive is damaged, too large, or has no or several stock lists; system errors
 */
export async function unpackUpload(file: string, folder: string): Promise<UnpackedUpload> {
  if (!isZip(file)) return { stockList: file, pdfs: NO_PDFS }
  const zip = await openPromise(file, { lazyEntries: true, autoClose: false }).catch(explainDamage)
  try {
    const entries = await filesOf(zip)
    return entries === undefined ? { stockList: file, pdfs: NO_PDFS } : await new Unpacking(zip, folder).unpack(entries)
  } catch (error) {
    return explainDamage(error)
  } finally {
    zip.close()
  }
}

/**
 * Undefined if the archive is a document of an office program. The sizes are those that the archive states: its reader refuses
 * contents that are longer.
 */
async function filesOf(zip: ZipFile): Promise<readonly Entry[] | undefined> {
  const files: Entry[] = []
  for await (const entry of zip.eachEntry()) {
    if (OFFICE_DOCUMENT.test(entry.fileName)) return undefined
    if (IGNORED.test(entry.fileName)) continue
    if (files.push(entry) > MAX_FILES) throw new UnreadableFile(`has more than ${MAX_FILES} files; divide it`)
  }
  const size = new UnpackedSize()
  for (const entry of files) {
    checkEntry(entry, 'leave it out')
    size.add(entry.uncompressedSize)
  }
  return files
}

/** A part that each workbook has, also in the formats of LibreOffice and Apple. */
const OFFICE_DOCUMENT = /^(?:\[Content_Types\]\.xml|mimetype|Index\/Document\.iwa)$/

/** Folders, hidden files, and what macOS adds. */
const IGNORED = /\/$|(?:^|\/)(?:\.|__MACOSX\/)/

const STOCK_LIST = /\.(?:xlsx|xlsm|(?:csv|tsv|txt|json|jsonl|ndjson)(?:\.gz)?)$/i

class Unpacking {
  readonly #pdfs = new Map<string, ReportPdf>()
  readonly #leftOut: LeftOutFile[] = []

  constructor(
    private readonly zip: ZipFile,
    private readonly folder: string,
  ) {}

  async unpack(entries: readonly Entry[]): Promise<UnpackedUpload> {
    const [stockList, ...others] = entries.filter(({ fileName }) => STOCK_LIST.test(fileName))
    if (stockList === undefined)
      throw new UnreadableFile('is an archive without a stock list (CSV, .xlsx or JSON lines)')
    if (others.length > 0)
      throw new UnreadableFile(
        `is an archive with several stock lists (${listFirst([stockList, ...others].map(nameOf))}); keep one of them`,
      )
    for (const entry of entries) if (entry !== stockList) await this.#unpackPdf(entry)
    const file = join(this.folder, 'unpacked')
    await this.#write(stockList, file, () => undefined)
    return { stockList: file, pdfs: new ReportPdfs([...this.#pdfs.values()], this.#leftOut) }
  }

  async #unpackPdf(entry: Entry): Promise<void> {
    const name = nameOf(entry)
    const reason = this.#reasonToLeaveOut(name, entry)
    if (reason !== undefined) return void this.#leftOut.push({ name, reason })
    const file = join(this.folder, 'pdf')
    const [check, hash] = [new PdfCheck(), createHash('sha256')]
    try {
      await this.#write(entry, file, (chunk) => {
        check.update(chunk)
        hash.update(chunk)
      })
      check.finish()
      const digest = hash.digest('hex')
      await rename(file, join(this.folder, digest))
      const bytes = entry.uncompressedSize
      this.#pdfs.set(name.toLowerCase(), { name, file: { digest, bytes, name: pdfFileName(name) } })
    } catch (error) {
      if (!(error instanceof NotPdf)) throw error
      await rm(file, { force: true })
      this.#leftOut.push({ name, reason: 'they are no PDFs' })
    }
  }

  #reasonToLeaveOut(name: string, { uncompressedSize }: Entry): string | undefined {
    if (!PDF_EXTENSION.test(name)) return 'they are neither a stock list nor PDFs'
    if (uncompressedSize > MAX_REPORT_BYTES) return `PDFs may have ${MAX_REPORT_BYTES} bytes`
    return this.#pdfs.has(name.toLowerCase()) ? 'the archive has another PDF of this name' : undefined
  }

  async #write(entry: Entry, file: string, onChunk: (chunk: Buffer) => void): Promise<void> {
    await pipeline(
      await this.zip.openReadStreamPromise(entry),
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          onChunk(chunk)
          yield chunk
        }
      },
      createWriteStream(file, { mode: 0o600 }),
    )
  }
}

const nameOf = ({ fileName }: Entry): string => basename(fileName)
