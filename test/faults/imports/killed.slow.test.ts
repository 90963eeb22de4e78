import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { settled, shownImport, uploaded } from '../../api/harness/imports.ts'
import { expect } from '../../api/harness/request.ts'
import { rounds } from '../../rounds.ts'
import { until } from '../../until.ts'
import { everyDiamond, withInstallation } from '../serving.ts'

const test = suite('an import over HTTP')

const MANY = rounds(5_000, 50_000)
const ROUNDS = 3

test('continues after each kill of its service, and writes nothing twice', () =>
  withInstallation(async ({ serve }) => {
    let service = await serve()
    const lines = Array.from({ length: MANY }, (_, index) => `S-${index},Round,1,${index + 1}\n`)
    const create = await uploaded(service.ann, `sku,Shape,Carat,Price\n${lines.join('')}`)
    expect(202, await service.ann.send({ method: 'POST', path: `/v4/import/${create.id}/apply` }))
    for (let round = 1; round <= ROUNDS; round++) {
      const enough = (MANY * round) / (ROUNDS + 2)
      await until('some bulks', async () => ((await shownImport(service.ann, create.id)).done ?? MANY) >= enough)
      await service.kill()
      service = await serve()
    }
    const { state, counts } = await settled(service.ann, create.id)
    assert.equal([state, counts?.created, counts?.unchanged], ['applied', MANY, 0])
    const skus = (await everyDiamond(service.ann, 'v4')).diamonds.map(({ sku }) => sku)
    assert.equal([skus.length, new Set(skus).size], [MANY, MANY])

    // Every other stone changes, a tenth is deleted, and some are new.
    const changed = lines.slice(MANY / 10).map((line, index) => (index % 2 === 0 ? line : line.replace(/\d+\n/, '7\n')))
    const update = await uploaded(service.ann, `sku,Shape,Carat,Price\n${changed.join('')}new,Oval,1,1\n`, {
      by: 'sku',
      deleteMissing: 'true',
    })
    expect(202, await service.ann.send({ method: 'POST', path: `/v4/import/${update.id}/apply` }))
    await until('some bulks', async () => ((await shownImport(service.ann, update.id)).done ?? MANY) >= MANY / 4)
    await service.kill()
    service = await serve()
    const updated = await settled(service.ann, update.id)
    assert.equal([updated.state, updated.counts], ['applied', update.would])

    expect(202, await service.ann.send({ method: 'POST', path: `/v4/import/${update.id}/undo` }))
    await until('some bulks', async () => ((await shownImport(service.ann, update.id)).done ?? MANY) >= MANY / 4)
    await service.kill()
    service = await serve()
    const { state: end, restored, left } = await settled(service.ann, update.id)
    const { created, changed: changes, deleted } = update.would
    assert.equal([end, restored, left], ['undone', created + changes + deleted, 0])
    const again = (await everyDiamond(service.ann, 'v4')).diamonds
    assert.equal([again.length, new Set(again.map(({ sku }) => sku)).size], [MANY, MANY])
    for (const { sku, price } of again) assert.is(price, Number(sku.slice(2)) + 1)
    assert.is(await service.stop(), 0)
  }))

test.run()
