import * as assert from 'uvu/assert'
import { pathOf } from '../harness/form.ts'
import { attachModel, model, modelFile } from '../harness/models.ts'
import { expect } from '../harness/request.ts'
import { apiSuite, type Service } from '../harness/service.ts'
import { created } from '../harness/stones.ts'

const test = apiSuite('the 3D file of a stone on its report page')

const BYTES = modelFile('Round', 'Excellent', 1.2)
const STONE = { access: 2, dataAccess: 2, carat: 1.2 }

/** The paths, with signatures, of the links to 3D files on a page. */
async function modelFileLinks(service: Service, id: number, search = ''): Promise<readonly string[]> {
  const { text } = expect(200, await service.send({ path: `/diamond/${id}${search}` }))
  return [...text.matchAll(/href="([^"]*\/model\/file[^"]*)"/g)].map(([, href = '']) => pathOf(href))
}

for (const [dataAccess, name, links] of [
  [0, 'hide all design data', 0],
  [1, 'hide model and reports', 0],
  [2, 'show all', 1],
] as const) {
  test(`is linked as dataAccess ${dataAccess} allows: ${name}`, async ({ ann, service }) => {
    const { id } = await created(ann, { ...STONE, dataAccess })
    expect(201, await attachModel(ann, id, BYTES))
    const { text } = expect(200, await service.send({ path: `/diamond/${id}` }))
    assert.is((await modelFileLinks(service, id)).length, links)
    assert.is(text.includes('3D file, OFF'), links === 1)
  })
}

test('opens for every client by the same link that its owner gets', async ({ ann, service }) => {
  const { id } = await created(ann, STONE)
  expect(201, await attachModel(ann, id, BYTES))
  const [link = ''] = await modelFileLinks(service, id)
  assert.is(link, pathOf(model(await ann.get(`/v4/diamond/${id}/model`)).file ?? ''))
  assert.is(expect(200, await service.send({ path: link })).text, BYTES.toString())
  expect(404, await service.send({ path: link.split('?')[0] ?? '' }))
})

for (const change of [{ dataAccess: 1 }, { access: 1 }]) {
  test(`is not opened by a link from before a change of ${Object.keys(change).join()}, also after it is changed back`, async ({
    ann,
    service,
  }) => {
    const { id } = await created(ann, STONE)
    expect(201, await attachModel(ann, id, BYTES))
    const [link = ''] = await modelFileLinks(service, id)
    expect(200, await service.send({ path: link }))
    expect(200, await ann.patch(`/v4/diamond/${id}`, change))
    expect(404, await service.send({ path: link }))
    expect(200, await ann.patch(`/v4/diamond/${id}`, STONE))
    expect(404, await service.send({ path: link }))
    const [later = ''] = await modelFileLinks(service, id)
    expect(200, await service.send({ path: later }))
  })
}

test('of a restricted stone is linked only on its page, which opens by the link of the owner', async ({
  ann,
  service,
}) => {
  const stone = await created(ann, { ...STONE, access: 0 })
  expect(201, await attachModel(ann, stone.id, BYTES))
  expect(404, await service.send({ path: `/diamond/${stone.id}` }))
  const [{ href }] = stone['_links'] as [{ href: string }]
  const [link = ''] = await modelFileLinks(service, stone.id, new URL(href).search)
  expect(200, await service.send({ path: link }))
})

test('disappears from the page when it is removed, and its link returns 404', async ({ ann, service }) => {
  const { id } = await created(ann, STONE)
  assert.equal(await modelFileLinks(service, id), [])
  expect(201, await attachModel(ann, id, BYTES))
  const [link = ''] = await modelFileLinks(service, id)
  expect(204, await ann.remove(`/v4/diamond/${id}/model`))
  assert.equal(await modelFileLinks(service, id), [])
  expect(404, await service.send({ path: link }))
})

test('that contradicts its stone is shown with a warning', async ({ ann, service }) => {
  const { id } = await created(ann, { ...STONE, carat: 1.3 })
  expect(201, await attachModel(ann, id, BYTES))
  const { text } = expect(200, await service.send({ path: `/diamond/${id}` }))
  assert.match(text, /volume is that of a diamond of 1\.\d+ carats, not of 1\.3/)
})

test.run()
