import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { UnreadableFile } from '../../src/trade-files/errors.ts'
import { readUpload } from '../../src/trade-files/reading.ts'
import { smallPdf } from '../api/harness/form.ts'
import { rowXml, sheetXml, workbookParts, zipFile, type ZipEntry } from './zip-file.ts'

type Context = { folder: string; count: number }
const test = suite<Context>('an uploaded archive of a stock list and PDFs')

test.before((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'upload-'))
  context.count = 0
})
test.after(({ folder }) => rmSync(folder, { recursive: true }))

const STOCK = 'sku,Shape,Carat,Lab,Cert No\nA-1,Round,1,GIA,6201947735\nA-2,Oval,1,IGI,LG700112233\nÄ 3,Pear,1,,\n'
const LIST: ZipEntry = { name: 'stock.csv', content: STOCK }

/** A PDF with this text as its content. */
const pdf = (text: string) => `%PDF-1.7\n%${text}\n%%EOF\n`

async function read(context: Context, entries: readonly ZipEntry[]) {
  const folder = join(context.folder, String(context.count++))
  mkdirSync(folder)
  writeFileSync(join(folder, 'upload'), zipFile(entries))
  const { reading, lines } = await readUpload(join(folder, 'upload'), folder, { options: {} })
  const files: Record<string, string | null> = {}
  for await (const { change, report } of lines) files[change.set.sku ?? ''] = report?.file?.name ?? null
  return { folder, reading, files }
}

async function refusalOf(context: Context, entries: readonly ZipEntry[]): Promise<string> {
  const error: unknown = await read(context, entries).catch((refusal: unknown) => refusal)
  return error instanceof UnreadableFile ? error.reason : `not refused: ${String(error)}`
}

test('has each PDF at the line with the sku or the report number that it is named after', async (context) => {
  const { reading, files, folder } = await read(context, [
    { name: 'list/stock.csv', content: STOCK },
    { name: 'pdf/a-1.PDF', content: pdf('by sku') },
    { name: 'pdf/IGI 700112233.pdf', content: pdf('by number') },
  ])
  assert.equal(files, { 'A-1': 'a-1.pdf', 'A-2': 'IGI 700112233.pdf', 'Ä 3': null })
  assert.equal([reading.usable, reading.certifications], [3, 2])
  assert.is(reading.first[0]?.['certification.file'], 'a-1.pdf')
  assert.match(reading.remarks.join('\n'), 'PDFs that belong to a line: 2 of 2')
  const digest = createHash('sha256').update(pdf('by sku')).digest('hex')
  assert.is(readFileSync(join(folder, digest)).toString(), pdf('by sku'))
})

test('says which files it leaves out, and why', async (context) => {
  const { reading, files } = await read(context, [
    LIST,
    { name: 'A-1.pdf', content: '<html>' },
    { name: 'A-2.pdf', content: smallPdf(10_485_761) },
    { name: 'ä 3.pdf', content: pdf('no report') },
    { name: 'other/Ä 3.pdf', content: pdf('again') },
    { name: 'B-9.pdf', content: pdf('no stone') },
    { name: 'photo.jpg', content: 'x' },
    { name: '.DS_Store', content: 'x' },
    { name: '__MACOSX/._A-1.pdf', content: 'x' },
    { name: 'empty/', content: '' },
  ])
  assert.equal(files, { 'A-1': null, 'A-2': null, 'Ä 3': null })
  assert.equal(
    reading.remarks.filter((text) => text.includes('pdf') || text.includes('jpg')),
    [
      'ä 3.pdf is not attached: the line has no laboratory and report number (line 4)',
      'left out, since no valid line has their sku or report number: B-9.pdf (1)',
      'left out, since they are no PDFs: A-1.pdf (1)',
      'left out, since PDFs may have 10485760 bytes: A-2.pdf (1)',
      'left out, since the archive has another PDF of this name: Ä 3.pdf (1)',
      'left out, since they are neither a stock list nor PDFs: photo.jpg (1)',
    ],
  )
})

test('may have a workbook or a compressed text as its stock list', async (context) => {
  const rows = rowXml(1, ['sku', 'cutShape', 'carat', 'Lab', 'Cert No']) + rowXml(2, ['A-1', 'Round', '1', 'GIA', '77'])
  for (const list of [
    { name: 'stock.xlsx', content: zipFile(workbookParts(sheetXml(rows))) },
    { name: 'stock.csv.gz', content: gzipSync(STOCK) },
  ]) {
    const { files } = await read(context, [list, { name: 'A-1.pdf', content: pdf('x') }])
    assert.is(files['A-1'], 'A-1.pdf', list.name)
  }
})

test('is refused without a stock list, with several, encrypted, or if it is a bomb', async (context) => {
  const pdfs = [{ name: 'A-1.pdf', content: pdf('x') }]
  assert.match(await refusalOf(context, pdfs), /an archive without a stock list \(CSV, \.xlsx or JSON lines\)/)
  assert.match(
    await refusalOf(context, [LIST, { name: 'b/old.xlsx', content: 'x' }, ...pdfs]),
    'several stock lists (stock.csv, old.xlsx); keep one of them',
  )
  assert.match(await refusalOf(context, [LIST, { ...LIST, name: 'A-1.pdf', isEncrypted: true }]), 'is encrypted')
  const bomb = { name: 'A-1.pdf', content: pdf('x'.repeat(3_000_000)) }
  assert.match(await refusalOf(context, [LIST, bomb]), 'is compressed more than 100-fold (A-1.pdf)')
  assert.match(
    await refusalOf(context, [LIST, { name: '../A-1.pdf', content: pdf('x') }]),
    'is damaged: invalid relative path',
  )
  assert.match(
    await refusalOf(context, [LIST, { name: 'A-1.pdf', content: pdf('x'.repeat(500)), declaredBytes: 10 }]),
    'is damaged',
  )
  const innerBomb = zipFile(workbookParts(sheetXml(rowXml(1, ['x'.repeat(3_000_000)]))))
  assert.match(
    await refusalOf(context, [{ name: 'stock.xlsx', content: innerBomb }]),
    'is compressed more than 100-fold',
  )
  const many = Array.from({ length: 5_001 }, (_, index) => ({ name: `${index}.pdf`, content: '' }))
  assert.match(await refusalOf(context, [LIST, ...many]), 'has more than 5000 files')
})

test('is unpacked to its stock list and to PDFs by their digests, whatever their names', async (context) => {
  const { folder } = await read(context, [
    LIST,
    { name: '..pdf', content: 'x' },
    { name: 'a\u0000b.pdf', content: pdf('x') },
  ])
  const digest = createHash('sha256').update(pdf('x')).digest('hex')
  assert.equal(readdirSync(folder).toSorted(), ['unpacked', 'upload', digest].toSorted())
})

test.run()
