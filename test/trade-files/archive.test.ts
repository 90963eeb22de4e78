import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkArchive } from '../../src/trade-files/archive.ts'
import { UnreadableFile } from '../../src/trade-files/errors.ts'
import { rowXml, sheetXml, workbookParts, zipFile, type ZipEntry } from './zip-file.ts'

const test = suite<{ folder: string }>('an uploaded archive')

test.before((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'archive-'))
})
test.after(({ folder }) => rmSync(folder, { recursive: true }))

const STOCK = rowXml(1, ['sku', 'cutShape', 'carat']) + rowXml(2, ['A', 'Round', '1'])
const GOOD = workbookParts(sheetXml(STOCK))

/** The reason why a file is refused; undefined if it is not. */
async function refusalOf(folder: string, content: Buffer): Promise<string | undefined> {
  const file = join(folder, 'file')
  writeFileSync(file, content)
  try {
    await checkArchive(file)
    return undefined
  } catch (error) {
    if (error instanceof UnreadableFile) return error.reason
    throw error
  }
}

test('that is an ordinary workbook, a compressed text or no archive is accepted', async ({ folder }) => {
  for (const content of [zipFile(GOOD), gzipSync('sku,cutShape,carat\nA,Round,1\n'), Buffer.from('sku\n')])
    assert.is(await refusalOf(folder, content), undefined)
})

const sheetOf = (rows: string, before?: string) => workbookParts(sheetXml(rows, before))

const HOSTILE: Readonly<Record<string, readonly [entries: readonly ZipEntry[], reason: RegExp]>> = {
  'a name outside of the archive': [
    [...GOOD, { name: '../../evil', content: 'x' }],
    /is damaged: invalid relative path/,
  ],
  'an absolute name': [[...GOOD, { name: '/etc/evil', content: 'x' }], /is damaged: absolute path/],
  macros: [[...GOOD, { name: 'xl/vbaProject.bin', content: 'x' }], /contains macros/],
  'an encrypted part': [[...GOOD, { name: 'secret', content: 'x', isEncrypted: true }], /is encrypted/],
  'a part that is longer than declared': [
    [...GOOD, { name: 'liar', content: 'x'.repeat(500), declaredBytes: 10 }],
    /is damaged: /,
  ],
  'a part that is compressed a thousandfold': [
    sheetOf(rowXml(1, ['x'.repeat(3_000_000)])),
    /is compressed more than 100-fold \(xl\/worksheets\/sheet1\.xml\)/,
  ],
  'an XML entity': [sheetOf(STOCK, '<!DOCTYPE x [<!ENTITY a "aa">]>'), /has a document type declaration/],
  'a cell in the last possible column': [sheetOf('<row><c r="XFD1"><v>1</v></c></row>'), /has a cell in column XFD/],
  'such a cell with other attributes and a namespace': [
    sheetOf(`<x:row><x:c s="1"\n r='ALM1' t="n"><x:v>1</x:v></x:c></x:row>`),
    /has a cell in column ALM/,
  ],
}

for (const [description, [entries, reason]] of Object.entries(HOSTILE)) {
  test(`with ${description} is refused`, async ({ folder }) => {
    assert.match((await refusalOf(folder, zipFile(entries))) ?? 'accepted', reason)
  })
}

test('may have a cell in column ALL, the thousandth', async ({ folder }) => {
  assert.is(await refusalOf(folder, zipFile(sheetOf('<row><c r="ALL1"><v>1</v></c></row>'))), undefined)
})

test('whose cells are divided by the end of a chunk is read like any other', async ({ folder }) => {
  // The archive is unpacked in chunks of 64 KiB: tags of every offset meet an end.
  for (let padding = 0; padding < 30; padding++) {
    const rows = `<!--${'x'.repeat(65_536 - 160 + padding)}--><row><c   r="XFD1"><v>1</v></c></row>`
    assert.match((await refusalOf(folder, zipFile(sheetOf(rows)))) ?? 'accepted', /column XFD/, `padding ${padding}`)
  }
})

test('that unpacks to more than 200 MB is refused, whatever its format', async ({ folder }) => {
  const bytes = Buffer.alloc(200_000_001, 'sku,cutShape,carat\n')
  assert.match((await refusalOf(folder, gzipSync(bytes, { level: 1 }))) ?? '', /has more than 200,000,000 bytes/)
})

test('that ends too early is refused', async ({ folder }) => {
  const zip = zipFile(GOOD)
  assert.match((await refusalOf(folder, zip.subarray(0, zip.length - 30))) ?? '', /is damaged/)
  const gzip = gzipSync('sku,cutShape,carat\n')
  assert.match((await refusalOf(folder, gzip.subarray(0, gzip.length - 4))) ?? '', /is damaged: unexpected end of file/)
})

test.run()
