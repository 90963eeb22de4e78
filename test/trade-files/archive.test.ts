import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkStockList } from '../../src/trade-files/archive.ts'
import { UnreadableFile } from '../../src/trade-files/errors.ts'
import { rowXml, sheetXml, workbookParts, zipFile, type ZipEntry } from './zip-file.ts'

const test = suite<{ folder: string }>('an uploaded file')

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
    await checkStockList(file)
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

/** The good workbook, in which the content of a part is changed. */
const withPart = (part: string, change: (content: string) => string): readonly ZipEntry[] =>
  GOOD.map(({ name, content }) => ({ name, content: name === part ? change(String(content)) : content }))

/** @param ids of relationships */
const withSheets = (ids: readonly string[]) =>
  withPart('xl/workbook.xml', (xml) =>
    xml.replace(
      /<sheet .*?>/,
      ids.map((id, index) => `<sheet name="S${index}" sheetId="${index}" r:id="${id}"/>`).join(''),
    ),
  )

const withRelationship = (relationship: string) =>
  withPart('xl/_rels/workbook.xml.rels', (xml) => xml.replace('</Relationships>', `${relationship}$&`))

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
  'a cell far below the list': [sheetOf('<row><c r="A250001"><v>1</v></c></row>'), /has a cell in line 250,001/],
  'such a cell without a reference': [
    sheetOf('<row r="1048576"><c><v>1</v></c></row>'),
    /has a cell in line 1,048,576/,
  ],
  'a sheet that is named twice': [withSheets(['rId1', 'rId1']), /names the sheet rId1 twice/],
  'two sheets that are one part': [
    withRelationship('<Relationship Id="rId2" Type="x/worksheet" Target="/xl/worksheets/sheet1.xml"/>'),
    /names the sheet sheet1\.xml twice/,
  ],
  'more sheets than anybody reads': [
    withSheets(Array.from({ length: 101 }, (_, index) => `rId${index}`)),
    /has more than 100 sheets/,
  ],
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

test('may have attributes of empty rows down to the last one', async ({ folder }) => {
  const rows = `${STOCK}<row r="1048575" ht="12.8"/><row r="1048576" ht="12.8"><!-- no cells --></row>`
  assert.is(await refusalOf(folder, zipFile(sheetOf(rows))), undefined)
})

test('may have a hyperlink that is repeated', async ({ folder }) => {
  const link = '<Relationship Id="rId7" Type="x/hyperlink" Target="https://example.com/a" TargetMode="External"/>'
  assert.is(await refusalOf(folder, zipFile(withRelationship(link + link))), undefined)
})

test('has at most as many lines as a sheet of Excel, which may be empty', async ({ folder }) => {
  const withLines = (count: number, lineEnd: string) =>
    refusalOf(folder, Buffer.from(`sku,cutShape,carat${`${lineEnd},,`.repeat(count)}`))
  assert.is(await withLines(1_048_575, '\r\n'), undefined)
  for (const lineEnd of ['\n', '\r', '\r\n'])
    assert.match((await withLines(1_100_001, lineEnd)) ?? 'accepted', /has more than 1,100,000 lines/)
})

test('whose cells are divided by the end of a chunk is read like any other', async ({ folder }) => {
  // The archive is unpacked in chunks of 64 KiB: tags of every offset meet an end.
  for (let padding = 0; padding < 30; padding++) {
    const rows = `<!--${'x'.repeat(65_536 - 160 + padding)}--><row><c   r="XFD1"><v>1</v></c></row>`
    assert.match((await refusalOf(folder, zipFile(sheetOf(rows)))) ?? 'accepted', /column XFD/, `padding ${padding}`)
  }
})

test('that unpacks to more than 200 MB is refused, whatever its format', async ({ folder }) => {
  const bytes = Buffer.alloc(200_000_001, `${'x'.repeat(1_000)}\n`)
  assert.match((await refusalOf(folder, gzipSync(bytes, { level: 1 }))) ?? '', /has more than 200,000,000 bytes/)
})

test('that ends too early is refused', async ({ folder }) => {
  const zip = zipFile(GOOD)
  assert.match((await refusalOf(folder, zip.subarray(0, zip.length - 30))) ?? '', /is damaged/)
  const gzip = gzipSync('sku,cutShape,carat\n')
  assert.match((await refusalOf(folder, gzip.subarray(0, gzip.length - 4))) ?? '', /is damaged: unexpected end of file/)
})

test.run()
