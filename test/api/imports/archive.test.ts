import * as assert from 'uvu/assert'
import { zipFile, type ZipEntry } from '../../trade-files/zip-file.ts'
import { until } from '../../until.ts'
import type { Vendor } from '../harness/account.ts'
import { pathOf, smallPdf } from '../harness/form.ts'
import { applied, undone, uploaded } from '../harness/imports.ts'
import { expect } from '../harness/request.ts'
import { apiSuite } from '../harness/service.ts'
import { isStored } from '../harness/stored-files.ts'
import { current, list } from '../harness/stones.ts'

const test = apiSuite('an import of a stock list with PDFs')

const HEADER = 'sku,Shape,Carat,Lab,Cert No\n'
const STOCK: ZipEntry = {
  name: 'stock.csv',
  content: `${HEADER}A-1,Round,1,GIA,6201947735\nA-2,Oval,1,IGI,LG700112233\nA-3,Pear,1,HRD,99\n`,
}

/** The archive with its stock list and two PDFs, one by sku and one by number. */
const archiveOf = (bySku: Buffer, byNumber: Buffer) =>
  zipFile([STOCK, { name: 'A-1.pdf', content: bySku }, { name: '700112233.pdf', content: byNumber }])

type ShownCertification = { readonly number: string; readonly file: string | null }

/** The certifications of the account's stones, each as its sku, number and whether it has a file. */
async function certificationsOf(vendor: Vendor): Promise<[unknown, string, ShownCertification['file']][]> {
  return list(await current(vendor, '/v4/diamond'))
    .flatMap(({ sku, certifications }) =>
      (certifications as ShownCertification[]).map(({ number, file }): [unknown, string, string | null] => [
        sku,
        number,
        file,
      ]),
    )
    .toSorted()
}

test('attaches each to its report, and an undo removes them', async ({ service }) => {
  const ann = await service.newVendor()
  const [bySku, byNumber] = [smallPdf(), smallPdf(50_000)]
  const archive = archiveOf(bySku, byNumber)
  const { id, would, first } = await uploaded(ann, archive)
  assert.equal([would.created, would.certifications], [3, 3])
  assert.equal(first[0]?.['certification'], { laboratory: 'GIA', number: '6201947735', file: 'A-1.pdf' })
  assert.not.ok(await isStored(service, bySku), 'a PDF was stored before the import is applied')
  const { counts } = await applied(ann, id)
  assert.equal([counts?.created, counts?.certifications], [3, 3])
  const [one, two, three] = await certificationsOf(ann)
  assert.equal([one?.[1], two?.[1], three], ['6201947735', 'LG700112233', ['A-3', '99', null]])
  for (const [link, pdf] of [
    [one?.[2] ?? null, bySku],
    [two?.[2] ?? null, byNumber],
  ] as const)
    assert.is(expect(200, await ann.get(pathOf(link))).text, pdf.toString(), String(link))
  await until('the deletion of the archive', async () => !(await isStored(service, archive)))

  const { restored } = await undone(ann, id)
  assert.is(restored, 3)
  assert.equal(await certificationsOf(ann), [])
  await until('the deletion of the PDFs', async () => !(await isStored(service, bySku)))
})

test('by sku adds those that reports lack, once, and an undo restores the reports without them', async ({
  service,
}) => {
  const ann = await service.newVendor()
  await applied(ann, (await uploaded(ann, String(STOCK.content))).id)
  const before = await certificationsOf(ann)
  assert.equal(
    before.map(([, , file]) => file),
    [null, null, null],
  )
  const archive = archiveOf(smallPdf(), smallPdf())
  const { id, would } = await uploaded(ann, archive, { by: 'sku' })
  assert.equal(would, { created: 0, changed: 2, unchanged: 1, deleted: 0, certifications: 2 })
  assert.equal((await applied(ann, id)).counts, would)
  const after = await certificationsOf(ann)
  assert.equal(
    after.map(([sku, number, file]) => [sku, number, file !== null]),
    [
      ['A-1', '6201947735', true],
      ['A-2', 'LG700112233', true],
      ['A-3', '99', false],
    ],
  )
  assert.is((await uploaded(ann, archive, { by: 'sku' })).would.unchanged, 3)
  assert.is((await uploaded(ann, String(STOCK.content), { by: 'sku' })).would.unchanged, 3)

  await undone(ann, id)
  assert.equal(await certificationsOf(ann), before)
})

test.run()
