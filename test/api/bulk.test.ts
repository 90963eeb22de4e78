import * as assert from 'uvu/assert'
import { expect, pointers, refusal } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { current, expectNoChange, created, createdMany, list, stone, stoneV3 } from './harness/stones.ts'

/** Warnings about an unreachable store appear next to the test that failed because of it. */
const test = apiSuite('a bulk request', { settings: { LOG_LEVEL: 'warn' } })

for (const method of ['PUT', 'PATCH']) {
  test(`by ${method} changes each entry separately and returns them in request order`, async ({ ann }) => {
    const [a, b, c] = await createdMany(ann, 3)
    const entries = [
      { id: c?.id, price: 3 },
      { id: a?.id, clarity: 'IF' },
      { id: b?.id, carat: 2, sku: 'B' },
    ]
    const response = expect(200, await ann.send({ method, path: '/v4/diamond/bulk', json: { entries } }))
    assert.equal(response.json(), [
      { ...c, price: 3 },
      { ...a, clarity: 'IF' },
      { ...b, carat: 2, sku: 'B' },
    ])
    assert.equal((await ann.get(`/v4/diamond/${b?.id}`)).json(), { ...b, carat: 2, sku: 'B' })
  })
}

test('with the unchanged entries of a list changes nothing', async ({ service }) => {
  const vendor = await service.newVendor()
  await createdMany(vendor, 5)
  for (const version of ['v3', 'v4']) {
    const entries = list(await vendor.get(`/${version}/diamond`))
    await expectNoChange([vendor], async () => {
      assert.equal(list(expect(200, await vendor.patch(`/${version}/diamond/bulk`, { entries }))), entries)
    })
  }
})

test('without entries gets an example that it accepts', async ({ service }) => {
  const vendor = await service.newVendor()
  await createdMany(vendor, 1)
  for (const [version, method] of [
    ['v4', 'POST'],
    ['v3', 'POST'],
    ['v4', 'DELETE'],
  ] as const) {
    const path = `/${version}/diamond/bulk`
    const [message = ''] = refusal(422, await vendor.send({ method, path, json: [] })).error ?? []
    const example = JSON.parse(/such as (\{.*\}),/.exec(message)?.[1] ?? '') as { entries: { id?: number }[] }
    const response = await vendor.send({ method, path, json: example })
    // A stone with the example's id does not exist: that it is looked for is enough.
    expect(method === 'POST' ? 201 : 404, response)
  }
})

test('with an invalid entry writes nothing and names every error of every entry', async ({ service }) => {
  const vendor = await service.newVendor()
  const entries = [stone(), stone({ carat: -1, girdle: 'x' }), stone(), 'no', { sku: 'x' }, null]
  await expectNoChange([vendor], async () => {
    assert.equal(pointers(refusal(422, await vendor.post('/v4/diamond/bulk', { entries }))), [
      '/entries/1/carat',
      '/entries/1/girdle',
      '/entries/3',
      '/entries/4/carat',
      '/entries/4/cutShape',
      '/entries/5',
    ])
  })
})

test('with an invalid change changes nothing and names every error of every entry', async ({ service }) => {
  const vendor = await service.newVendor()
  const [a, b, c] = await createdMany(vendor, 3)
  await expectNoChange([vendor], async () => {
    const entries = [
      { id: a?.id, price: 1 },
      { id: b?.id, price: -1, colr: 1 },
      { price: 1 },
      { id: c?.id, sku: null },
      7,
    ]
    assert.equal(pointers(refusal(422, await vendor.patch('/v4/diamond/bulk', { entries }))), [
      '/entries/1/colr',
      '/entries/1/price',
      '/entries/2/id',
      '/entries/3/sku',
      '/entries/4',
    ])
  })
})

for (const [description, body] of [
  ['without entries', {}],
  ['with entries null', { entries: null }],
  ['with entries an object', { entries: {} }],
  ['with entries a string', { entries: 'x' }],
  ['with an empty list of entries', { entries: [] }],
] as const) {
  test(`${description} is rejected with 422 at /entries`, async ({ ann }) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const version of ['v3', 'v4']) {
        const response = await ann.send({ method, path: `/${version}/diamond/bulk`, json: body })
        assert.equal(pointers(refusal(422, response)), ['/entries'])
      }
    }
  })
}

test('that is not an object is rejected with 422', async ({ ann }) => {
  for (const json of [[], 'x', 1, true, null]) {
    refusal(422, await ann.send({ method: 'POST', path: '/v4/diamond/bulk', body: JSON.stringify(json) }))
    refusal(422, await ann.send({ method: 'POST', path: '/v4/diamond', body: JSON.stringify(json) }))
  }
})

test('with 501 entries is rejected with 413, whatever they contain', async ({ ann }) => {
  const entries = Array.from({ length: 501 }, () => stoneV3())
  await expectNoChange([ann], async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      refusal(413, await ann.send({ method, path: '/v3/diamond/bulk', json: { entries } }))
      refusal(413, await ann.send({ method, path: '/v4/diamond/bulk', json: { entries: entries.map(() => 1) } }))
    }
  })
})

test('with a duplicate id is rejected with 422 at the second entry', async ({ ann }) => {
  const { id } = await created(ann)
  const entries = [
    { id, price: 1 },
    { id, price: 2 },
  ]
  assert.equal(pointers(refusal(422, await ann.patch('/v4/diamond/bulk', { entries }))), ['/entries/1/id'])
})

for (const id of [0, -1, 1.5, 2 ** 53, 1e300, '1', null, true, [], {}]) {
  test(`with the id ${JSON.stringify(id)} is rejected with 422`, async ({ ann }) => {
    for (const method of ['PATCH', 'DELETE']) {
      const response = await ann.send({ method, path: '/v4/diamond/bulk', json: { entries: [{ id }] } })
      assert.equal(pointers(refusal(422, response)), ['/entries/0/id'])
    }
  })
}

test('names the errors of all entries in request order, with 422 before 403 before 404', async ({ ann, bob }) => {
  const [mine, bad, theirs, theirsToo] = [
    await created(ann),
    await created(ann),
    await created(bob),
    await created(bob),
  ]
  const deleted = await created(ann)
  expect(204, await ann.remove(`/v4/diamond/${deleted.id}`))
  const unknown = 2 ** 52
  const entries = [
    { id: unknown },
    { id: theirs.id },
    { id: mine.id, price: 1 },
    { id: theirsToo.id },
    { id: deleted.id },
  ]
  await expectNoChange([ann, bob], async () => {
    for (const method of ['PUT', 'PATCH']) {
      const send = (...more: unknown[]) =>
        ann.send({ method, path: '/v4/diamond/bulk', json: { entries: [...entries, ...more] } })
      assert.equal(pointers(refusal(403, await send())), ['/entries/0', '/entries/1', '/entries/3', '/entries/4'])
      const all = refusal(422, await send({ id: bad.id, price: 'x' }, { id: unknown + 1, carat: 0, colr: 'D' }, 7, {}))
      assert.equal(
        (all.details ?? []).map(({ pointer }) => pointer),
        [
          '/entries/0',
          '/entries/1',
          '/entries/3',
          '/entries/4',
          '/entries/5/price',
          '/entries/6/carat',
          '/entries/6/colr',
          '/entries/6',
          '/entries/7',
          '/entries/8/id',
        ],
      )
    }
    const removal = (list: readonly object[]) =>
      ann.send({ method: 'DELETE', path: '/v4/diamond/bulk', json: { entries: list } })
    const ids = entries.map(({ id }) => ({ id }))
    assert.equal(pointers(refusal(403, await removal(ids))), ['/entries/0', '/entries/1', '/entries/3', '/entries/4'])
    const twice = [{ id: mine.id }, { id: mine.id }, { id: theirs.id }, { id: deleted.id }]
    assert.equal(pointers(refusal(422, await removal(twice))), ['/entries/1/id', '/entries/2', '/entries/3'])
    assert.equal(pointers(refusal(404, await removal([{ id: mine.id }, { id: unknown }, { id: deleted.id }]))), [
      '/entries/1',
      '/entries/2',
    ])
  })
})

test('with a member other than entries is rejected with 422, together with the errors of the entries', async ({
  ann,
}) => {
  const { id } = await created(ann)
  const [good, bad] = [stone({ id }), stone({ id, carat: 0 })]
  await expectNoChange([ann], async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const send = (json: unknown) => ann.send({ method, path: '/v4/diamond/bulk', json })
      const entry = method === 'DELETE' ? { id } : good
      assert.equal(pointers(refusal(422, await send({ entries: [entry], dryRun: true }))), ['/dryRun'])
      assert.equal(pointers(refusal(422, await send({ 'a/b~c': 1, entry: [], entries: [] }))), [
        '/a~1b~0c',
        '/entries',
        '/entry',
      ])
      if (method === 'DELETE') continue
      assert.equal(pointers(refusal(422, await send({ entries: [bad], x: 1 }))), ['/entries/0/carat', '/x'])
    }
  })
})

test('to delete accepts only ids in its entries', async ({ ann }) => {
  const [a, b] = await createdMany(ann, 2)
  const entries = [{ id: a?.id, sku: 'A' }, { id: b?.id }, { Id: 3, price: 1 }]
  await expectNoChange([ann], async () => {
    const response = await ann.send({ method: 'DELETE', path: '/v4/diamond/bulk', json: { entries } })
    const expected = ['/entries/0/sku', '/entries/2/Id', '/entries/2/id', '/entries/2/price']
    assert.equal(pointers(refusal(422, response)), expected)
  })
})

test('with If-Match is rejected with 400, because that header refers to a single diamond', async ({ ann }) => {
  const { id } = await created(ann)
  await expectNoChange([ann], async () => {
    for (const tag of ['*', '"0.0"', '"9.9"', 'x']) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const json = { entries: [method === 'DELETE' ? { id } : stone({ id })] }
        const headers = { 'If-Match': tag }
        refusal(400, await ann.send({ method, path: '/v3/diamond/bulk', json, headers }))
        refusal(400, await ann.send({ method, path: '/v4/diamond/bulk', json, headers }))
      }
    }
  })
})

test('concurrent with others on the same diamonds loses no change and is not rejected', async ({ service }) => {
  const vendor = await service.newVendor()
  const stones = await createdMany(vendor, 20)
  const change = (fields: object) =>
    vendor.patch('/v4/diamond/bulk', { entries: stones.map(({ id }) => ({ id, ...fields })) })
  const changes = [
    { price: 1 },
    { clarity: 'IF' },
    { color: 'D' },
    { polish: 'Good' },
    { symmetry: 'Good' },
    { girdle: 'Thin' },
    { access: 2 },
    { dataAccess: 2 },
    { carat: 3 },
    { isColored: true },
  ]
  const skus = Array.from({ length: 15 }, (_, number) => ({ sku: `S-${number}` }))
  const responses = await Promise.all([
    ...[...changes, ...skus].map(change),
    ...stones.map(({ id }) => vendor.patch(`/v4/diamond/${id}`, { isLabGrown: true })),
  ])
  for (const response of responses) expect(200, response)
  const after = list(await current(vendor, '/v4/diamond'))
  assert.is(after.length, 20)
  for (const shown of after) {
    for (const [field, value] of changes.flatMap((fields) => Object.entries(fields))) assert.is(shown[field], value)
    assert.is(shown['isLabGrown'], true)
  }
})

// Runs last: on a server that scans all documents, these 500 diamonds would slow down every later test.
test('creates up to 500 diamonds and returns them in request order', async ({ service }) => {
  const vendor = await service.newVendor()
  const entries = Array.from({ length: 500 }, (_, number) => stone({ sku: `B-${number}`, price: number }))
  const stones = list(expect(201, await vendor.post('/v4/diamond/bulk', { entries })))
  assert.equal(
    stones.map(({ sku, price }) => [sku, price]),
    entries.map(({ sku, price }: Readonly<Record<string, unknown>>) => [sku, price]),
  )
  assert.is(new Set(stones.map(({ id }) => id)).size, 500)
  const listed = await vendor.get('/v4/diamond?limit=1000')
  assert.is(listed.headers['x-total-count'], '500')
  assert.equal(
    list(listed).map(({ id }) => id),
    stones.map(({ id }) => id).reverse(),
  )
})

test.run()
