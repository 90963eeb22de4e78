import * as assert from 'uvu/assert'
import { expect, refusal } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'

const test = apiSuite('the constants')

type Entry = Readonly<Record<string, unknown>> & { readonly id: number; readonly title: string }
type Constants = {
  readonly ver: string
  readonly dict: Readonly<Record<string, readonly Entry[]>>
  readonly scoring: Readonly<Record<string, { readonly ver: string; readonly grades?: readonly number[] }>>
}
type Shape = { readonly id: number; readonly title: string; readonly children: readonly Entry[] }

const PATH = '/v2/constants'

test('are public, also with an invalid token', async ({ service }) => {
  expect(200, await service.send({ path: PATH }))
  expect(200, await service.send({ path: PATH, headers: { Authorization: 'Bearer nonsense' } }))
})

test('have ver, dict and scoring in the documented shapes', async ({ service }) => {
  const { ver, dict, scoring } = (await service.send({ path: PATH })).json() as Constants
  assert.match(ver, /^\d+\.\d+\.\d+/)
  const flat = ['id', 'title', 'short', 'position']
  const shapes: Readonly<Record<string, readonly string[]>> = {
    cutShape: ['id', 'title'],
    color: flat,
    clarity: flat,
    cutQuality: flat,
    polish: flat,
    symmetry: flat,
    fluorIntensity: flat,
    fluorColor: flat,
    fancyGrade: ['id', 'title', 'short', 'abbreviation', 'position'],
    colorHue: [...flat, 'children'],
    colorModifier: flat,
  }
  assert.equal(Object.keys(dict), Object.keys(shapes))
  for (const [name, keys] of Object.entries(shapes)) {
    const entries = dict[name] ?? []
    assert.ok(entries.length > 0, name)
    for (const entry of entries) {
      assert.equal(Object.keys(entry), keys, name)
      for (const key of keys) {
        const type = key === 'id' || key === 'position' ? 'number' : key === 'children' ? 'object' : 'string'
        assert.type(entry[key], type, `${name} ${key}`)
      }
    }
  }
  assert.equal(Object.keys(scoring).toSorted(), ['brightness', 'fire', 'fluorescence', 'integral', 'symmetry'])
  for (const [name, { ver, grades }] of Object.entries(scoring)) {
    assert.type(ver, 'string')
    assert.is(grades?.length, name === 'fluorescence' ? undefined : 6)
  }
})

for (const path of [PATH, '/v2/cutshapes', '/v2/cutshapes/9']) {
  test(`at ${path} have a strong ETag, are publicly cacheable and return 304 for a known ETag`, async ({ service }) => {
    const response = expect(200, await service.send({ path }))
    const etag = String(response.headers.etag)
    assert.match(etag, /^"[^"]+"$/)
    assert.match(String(response.headers['cache-control']), /^public\b/)
    for (const tag of [etag, `W/${etag}`, '*', `"x", ${etag}`]) {
      const same = expect(304, await service.send({ path, headers: { 'If-None-Match': tag } }))
      assert.equal([same.text, same.headers.etag], ['', etag])
      assert.is(same.headers['cache-control'], response.headers['cache-control'])
    }
    expect(200, await service.send({ path, headers: { 'If-None-Match': '"x"' } }))
    assert.is((await service.send({ path })).text, response.text)
  })
}

test('include the tree of cut shapes, whose roots are those of the dictionary', async ({ service }) => {
  const tree = (await service.send({ path: '/v2/cutshapes' })).json() as Shape[]
  const { dict } = (await service.send({ path: PATH })).json() as Constants
  assert.equal(
    tree.map(({ id, title }) => ({ id, title })),
    dict['cutShape'],
  )
  const children = tree.flatMap((shape) => shape.children)
  for (const shape of [...tree, ...children]) assert.type(shape.title, 'string')
  assert.ok(children.length > 0 && children.every(({ id }) => id >= 200))
})

test('show each cut shape with its parent, aliases and children', async ({ service }) => {
  const tree = (await service.send({ path: '/v2/cutshapes' })).json() as Shape[]
  for (const root of tree) {
    const detail = expect(200, await service.send({ path: `/v2/cutshapes/${root.id}` })).json() as Record<
      string,
      unknown
    >
    assert.equal(Object.keys(detail), ['id', 'title', 'parent', 'aliases', 'children'])
    assert.equal([detail['id'], detail['title'], detail['parent']], [root.id, root.title, null])
    for (const { id, title } of root.children) {
      const child = (await service.send({ path: `/v2/cutshapes/${id}` })).json() as Record<string, unknown>
      assert.equal([child['title'], (child['parent'] as Entry | null)?.id ?? child['parent']], [title, root.id])
    }
  }
  for (const id of ['0', '-1', '1.5', 'x', '999999', '9007199254740993', '02']) {
    refusal(404, await service.send({ path: `/v2/cutshapes/${id}` }))
  }
})

test.run()
