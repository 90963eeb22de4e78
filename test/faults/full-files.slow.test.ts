import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { areEmbedded } from '../engines.ts'
import { attached, file, pathOf, smallPdf, text, upload } from '../api/harness/form.ts'
import { expect, refusal } from '../api/harness/request.ts'
import { newSender, post, shared, shownIn } from '../api/harness/secrets.ts'
import { startService, type Service } from '../api/harness/service.ts'
import { expectNoChange, created } from '../api/harness/stones.ts'
import { smallDisk, type SmallDisk } from './small-disk.ts'

const MIB = 1024 * 1024

const test = suite('a full disk')

/** Runs a service with a small disk mounted as the folder `within` of its data folder. */
async function onSmallDisk(within: string, bytes: number, run: (service: Service, disk: SmallDisk) => Promise<void>) {
  if (!areEmbedded) return console.log('NOTE: not run, because these engines store nothing in the data folder')
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-full-'))
  const disk = smallDisk(join(dataDir, within), bytes)
  try {
    if (disk === undefined) return console.log('NOTE: not run, because this process may not mount a small disk')
    const service = await startService({ dataDir })
    await run(service, disk).finally(() => service.stop())
  } finally {
    disk?.remove()
    rmSync(dataDir, { recursive: true })
  }
}

/** All files below the folder `files`. */
const filesIn = ({ dataDir }: Service) =>
  readdirSync(join(dataDir, 'files'), { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isFile() && entry.name !== 'ballast' ? [entry.name] : []))
    .toSorted()

test('for files makes uploads fail with 503 without leftovers; downloads work, and uploads when there is space', () =>
  onSmallDisk('files', 24 * MIB, async (service, disk) => {
    const { ann } = service
    const { id } = await created(ann)
    const pdf = smallPdf(MIB)
    const kept = await attached(ann, id, pdf)
    const before = filesIn(service)
    disk.fill()
    const form = () => [text('product', id), text('laboratory', 'GIA'), file(smallPdf(5 * MIB))]
    await expectNoChange([ann], async () => {
      for (let attempt = 0; attempt < 3; attempt++) {
        const response = await upload(ann, form())
        refusal(503, response)
        assert.ok(Number(response.headers['retry-after']) > 0)
      }
      const sent = expect(200, await service.send({ path: pathOf(kept.file) }))
      assert.is(sent.headers['content-length'], String(pdf.length))
    })
    assert.equal(filesIn(service), before)
    expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 5 }))
    expect(201, await ann.post('/v4/certification', { product: id, laboratory: 'IGI' }))

    disk.free()
    expect(201, await upload(ann, form()))
    assert.is(filesIn(service).length, before.length + 1)
  }))

test('for all data makes writes fail with 503 and consumes no secret; reads work, and writes when there is space', () =>
  onSmallDisk('.', 96 * MIB, async (service, disk) => {
    const { ann, installation, url } = service
    const sender = await newSender(installation)
    const { id } = await created(ann, { price: 1 })
    const kept = await attached(ann, id, smallPdf(MIB))
    const secret = await shared(url, sender, { secret: 'kept' })
    disk.fill()
    const statuses: number[] = []
    // Writes succeed while the database file has free pages.
    for (let price = 2; price < 4_000 && statuses.at(-1) !== 503; price++) {
      statuses.push((await ann.patch(`/v4/diamond/${id}`, { price, sku: 'x'.repeat(128 - (price % 2)) })).status)
    }
    assert.is(statuses.at(-1), 503)
    assert.equal(
      [...new Set(statuses)].filter((status) => status !== 200),
      [503],
    )
    const responses = await Promise.all([
      ann.post('/v4/diamond/bulk', {
        entries: Array.from({ length: 500 }, (_, n) => ({ sku: `F-${n}`, cutShape: 'Round', carat: 1 })),
      }),
      upload(ann, [text('product', id), text('laboratory', 'GIA'), file(smallPdf(5 * MIB))]),
      ann.remove(`/v4/diamond/${id}`),
      post(url, `secret/${secret.secret_key}`),
    ])
    assert.equal(
      responses.map(({ status }) => status),
      [503, 503, 503, 503],
    )
    expect(200, await ann.get(`/v4/diamond/${id}`))
    expect(200, await ann.get('/v3/diamond'))
    expect(200, await service.send({ path: pathOf(kept.file) }))
    assert.is(shownIn(await post(url, `private/${secret.metadata_key}`)).state, 'new')

    disk.free()
    expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 9_999 }))
    assert.is((await ann.get('/v4/diamond')).headers['x-total-count'], '1')
    assert.is(shownIn(await post(url, `secret/${secret.secret_key}`)).value, 'kept')
    expect(201, await upload(ann, [text('product', id), text('laboratory', 'GIA'), file(smallPdf(5 * MIB))]))
  }))

test.run()
