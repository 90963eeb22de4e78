import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { attached, pathOf } from '../../api/harness/form.ts'
import { expect } from '../../api/harness/request.ts'
import { created, list, shown, stone } from '../../api/harness/stones.ts'
import { mongoServer } from '../../mongo-server.ts'
import { withCluster } from './cluster.ts'

const server = await mongoServer('several processes')
const test = suite('an installation of several processes')
const database = () => server?.newDatabase() ?? ''

test('shows in each process what was just written through another', () =>
  withCluster(database(), async (cluster) => {
    await cluster.start('projections')
    const [{ ann }, { ann: annAtOther }] = await Promise.all([cluster.start('http'), cluster.start('http')])
    for (let round = 0; round < 10; round++) {
      const { id } = await created(ann, { sku: `S-${round}` })
      expect(200, await annAtOther.get(`/v4/diamond/${id}`))
      const found = list(expect(200, await annAtOther.get(`/v4/diamond?f[sku][]=S-${round}`)))
      assert.equal(
        found.map((each) => each.id),
        [id],
      )
      expect(200, await annAtOther.patch(`/v4/diamond/${id}`, { price: round + 1 }))
      assert.is(list(await ann.get('/v4/diamond'))[0]?.['price'], round + 1)
      assert.is((await ann.get('/v4/diamond')).headers['x-total-count'], String(round + 1))
    }
  }))

test('serves a report in every process until it is removed, whichever process received it', () =>
  withCluster(database(), async (cluster) => {
    await cluster.start('projections')
    const [{ ann }, { ann: annAtOther }] = await Promise.all([cluster.start('http'), cluster.start('http')])
    const { id } = await created(ann)
    const report = await attached(ann, id)
    const path = pathOf(report.file)
    expect(200, await annAtOther.get(path))
    expect(204, await annAtOther.remove(`/v4/certification/${report.id}`))
    expect(404, await ann.get(path))
  }))

test('never assigns one id to two stones when several processes create stones concurrently', () =>
  withCluster(database(), async (cluster) => {
    await cluster.start('projections')
    const instances = await Promise.all([cluster.start('http'), cluster.start('http'), cluster.start('http')])
    const ids = await Promise.all(
      instances.flatMap(({ ann }) =>
        Array.from({ length: 20 }, async (_, n) =>
          shown(expect(201, await ann.post('/v4/diamond', stone({ sku: `N-${n}` })))),
        ),
      ),
    )
    assert.is(new Set(ids.map(({ id }) => id)).size, 60)
  }))

if (server !== undefined) test.run()
