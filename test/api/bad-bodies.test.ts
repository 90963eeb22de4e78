import * as assert from 'uvu/assert'
import { expect, pointers, refusal, type Request } from './harness/request.ts'
import { newSender } from './harness/secrets.ts'
import { apiSuite } from './harness/service.ts'
import { changesNothing, created, stone } from './harness/stones.ts'

const test = apiSuite('a body')

/** Every request that reads a body. */
const writes = (id: number): Pick<Request, 'method' | 'path'>[] =>
  ['v3', 'v4'].flatMap((version) => [
    { method: 'POST', path: `/${version}/diamond` },
    { method: 'POST', path: `/${version}/diamond/bulk` },
    ...['PUT', 'PATCH'].map((method) => ({ method, path: `/${version}/diamond/${id}` })),
    ...['PUT', 'PATCH', 'DELETE'].map((method) => ({ method, path: `/${version}/diamond/bulk` })),
  ])

const bytes = (...values: number[]) => Buffer.from(values)

const malformed: readonly (readonly [what: string, body: string | Buffer])[] = [
  ['that is empty', ''],
  ['of white space', ' \n'],
  ['that breaks off', '{"sku":"a"'],
  ['that goes on behind its end', '{"sku":"a"} x'],
  ['with a comma too many', '{"sku":"a",}'],
  ['in single quotes', "{'sku':'a'}"],
  ['with NaN', '{"sku":"a","cutShape":"Round","carat":NaN}'],
  ['with Infinity', '{"carat":Infinity}'],
  ['with a comment', '{/* */}'],
  ['with a bare word', 'undefined'],
  ['with a control character in a text', '{"sku":"a\u0001"}'],
  ['of a form', 'sku=a&carat=1'],
  ['of invalid UTF-8', Buffer.concat([Buffer.from('{"sku":"'), bytes(0xff, 0xfe), Buffer.from('"}')])],
  ['with a surrogate in UTF-8', Buffer.concat([Buffer.from('{"sku":"'), bytes(0xed, 0xa0, 0x80), Buffer.from('"}')])],
  ['in UTF-16', Buffer.from('{"sku":"a"}', 'utf16le')],
  ['of NULs', bytes(0, 0, 0, 0)],
  ['of a half number', '{"carat":1.}'],
  ['of 100,000 open brackets', '['.repeat(100_000)],
]
for (const [what, body] of malformed) {
  test(`${what} is 400 and changes nothing`, async ({ ann }) => {
    const { id } = await created(ann)
    await changesNothing([ann], async () => {
      for (const where of writes(id)) refusal(400, await ann.send({ ...where, body }))
    })
  })
}

test('with a byte order mark is read', async ({ ann }) => {
  expect(201, await ann.send({ method: 'POST', path: '/v4/diamond', body: `\ufeff${JSON.stringify(stone())}` }))
})

for (const type of [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/jsonp',
  'json',
  '*/*',
  ';',
]) {
  test(`of the type ${type} is 415 and changes nothing`, async ({ ann }) => {
    const { id } = await created(ann)
    await changesNothing([ann], async () => {
      for (const where of writes(id)) {
        refusal(415, await ann.send({ ...where, json: stone(), headers: { 'Content-Type': type } }))
      }
    })
  })
}

for (const charset of ['iso-8859-1', 'UTF-16', '"windows-1252"', 'us-ascii', 'utf-8x']) {
  test(`declared as ${charset} is 415 and changes nothing`, async ({ ann }) => {
    const { id } = await created(ann)
    await changesNothing([ann], async () => {
      for (const where of [...writes(id), { method: 'POST', path: '/v4/certification' }]) {
        for (const type of [
          `application/json; charset=${charset}`,
          `application/merge-patch+json;x=1;Charset=${charset}`,
        ]) {
          refusal(415, await ann.send({ ...where, json: stone({ id }), headers: { 'Content-Type': type } }))
        }
      }
    })
  })
}

test('declared as UTF-8 is read, however that is written', async ({ ann }) => {
  for (const charset of ['utf-8', 'UTF-8', '"utf-8"', 'utf8']) {
    const headers = { 'Content-Type': `application/json;charset=${charset}` }
    expect(201, await ann.send({ method: 'POST', path: '/v4/diamond', json: stone(), headers }))
  }
})

test('of a secret in another charset than UTF-8 is 415 too', async ({ service }) => {
  const { authorization } = await newSender(service.installation)
  const headers = { 'Content-Type': 'application/json; charset=latin1', Authorization: authorization }
  expect(415, await service.send({ method: 'POST', path: '/api/v1/share', json: { secret: 'x' }, headers }))
})

test('with a number beyond a double is 422 and says so', async ({ ann }) => {
  for (const number of ['1e999', '-1e999']) {
    for (const field of ['carat', 'price', 'color', 'access']) {
      const text = JSON.stringify(stone({ carat: 1 })).replace(/}$/, `,"${field}":${number}}`)
      const body = refusal(422, await ann.send({ method: 'POST', path: '/v4/diamond', body: text }))
      assert.equal(pointers(body), [`/${field}`])
      assert.ok(body.error.some((message) => message.endsWith('got a number beyond 1.8e308')))
    }
  }
})

test('in an encoding of its own is 415', async ({ ann }) => {
  for (const encoding of ['gzip', 'br', 'deflate', 'gzip, identity']) {
    const headers = { 'Content-Encoding': encoding }
    refusal(415, await ann.send({ method: 'POST', path: '/v4/diamond', json: stone(), headers }))
  }
})

test('is read without a content type and with each of JSON', async ({ ann }) => {
  const body = JSON.stringify(stone())
  expect(201, await ann.send({ method: 'POST', path: '/v4/diamond', body }))
  for (const type of ['application/json', 'APPLICATION/JSON; charset=utf-8', 'application/merge-patch+json']) {
    const headers = { 'Content-Type': type, 'Content-Encoding': 'identity' }
    expect(201, await ann.send({ method: 'POST', path: '/v4/diamond', body, headers }))
  }
})

test('of exactly 8 MB is read, and of one byte more is 413, with and without a length', async ({ ann }) => {
  const limit = 8 * 1024 * 1024
  const start = JSON.stringify(stone()).slice(0, -1)
  const sized = (size: number) => Buffer.from(`${start},"scores":"${'x'.repeat(size - start.length - 13)}"}`)
  const fits = sized(limit)
  assert.is(fits.length, limit)
  expect(201, await ann.send({ method: 'POST', path: '/v4/diamond', body: fits }))
  expect(201, await ann.send({ method: 'POST', path: '/v4/diamond', body: [fits] }))
  await changesNothing([ann], async () => {
    refusal(413, await ann.send({ method: 'POST', path: '/v4/diamond', body: sized(limit + 1) }))
    refusal(413, await ann.send({ method: 'POST', path: '/v4/diamond', body: [sized(limit + 1)] }))
  })
})

test('of 9 MB is 413 everywhere, and changes nothing', async ({ ann }) => {
  const { id } = await created(ann)
  const body = Buffer.from(`{"sku":"${'x'.repeat(9_000_000)}"}`)
  await changesNothing([ann], async () => {
    for (const where of writes(id).filter((_, index) => index % 3 === 0)) {
      refusal(413, await ann.send({ ...where, body }))
      refusal(413, await ann.send({ ...where, body: [body.subarray(0, 5_000_000), body.subarray(5_000_000)] }))
    }
  })
})

test('nested deeper than anything has sense is 422, with and without a key', async ({ ann }) => {
  const { id } = await created(ann)
  const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  await changesNothing([ann], async () => {
    for (const depth of [101, 2_000, 100_000, 2_000_000]) {
      for (const [field, key] of [
        ['sku', 'a'],
        ['scores', 'b'],
        ['cutShape', 'c'],
        ['unknown', 'd'],
      ] as const) {
        if (depth === 2_000_000 && field !== 'scores') continue
        const body = `{"sku":"a","cutShape":"Round","carat":1,"${field}":${deep(depth)}}`
        const headers = { 'Idempotency-Key': key }
        refusal(422, await ann.send({ method: 'POST', path: '/v4/diamond', body, headers }))
        refusal(422, await ann.send({ method: 'PATCH', path: `/v4/diamond/${id}`, body }))
      }
    }
    refusal(
      422,
      await ann.send({ method: 'DELETE', path: '/v4/diamond/bulk', body: `{"entries":[{"id":${deep(9000)}}]}` }),
    )
    refusal(422, await ann.send({ method: 'POST', path: '/v4/diamond', body: deep(9000) }))
  })
  const brackets = '['.repeat(5_000)
  refusal(422, await ann.post('/v4/diamond', stone({ sku: brackets })))
  expect(201, await ann.post('/v4/diamond', stone({ scores: `\\"${brackets}` })))
})

for (const number of ['1e999', '-1e999', '1e400', '9'.repeat(400)]) {
  test(`with the number ${number.slice(0, 10)} is 422 at its field`, async ({ ann }) => {
    for (const field of ['carat', 'price', 'access', 'clarity', 'cutShape', 'sku', 'isColored']) {
      const body = `{"sku":"a","cutShape":"Round","carat":1,"${field}":${number}}`
      const answer = await ann.send({ method: 'POST', path: '/v4/diamond', body })
      assert.equal(pointers(refusal(422, answer)), [`/${field}`])
    }
  })
}

test('with a number too small for a double has 0 there', async ({ ann }) => {
  const body = '{"sku":"a","cutShape":"Round","carat":1e-400}'
  assert.equal(pointers(refusal(422, await ann.send({ method: 'POST', path: '/v4/diamond', body }))), ['/carat'])
})

for (const field of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', ' ', 'sku ', 'SKU']) {
  test(`with the field ${JSON.stringify(field)} is 422 there`, async ({ ann }) => {
    const { id } = await created(ann)
    for (const value of ['1', 'null', '{"sku":"x"}']) {
      const member = `${JSON.stringify(field)}:${value}`
      const pointer = `/${field}`
      const one = `{"sku":"a","cutShape":"Round","carat":1,${member}}`
      assert.equal(pointers(refusal(422, await ann.send({ method: 'POST', path: '/v4/diamond', body: one }))), [
        pointer,
      ])
      const change = await ann.send({ method: 'PATCH', path: `/v4/diamond/${id}`, body: `{${member}}` })
      assert.equal(pointers(refusal(422, change)), [pointer])
    }
    assert.is(Object.hasOwn(Object.prototype, 'sku'), false)
  })
}

test('takes the required fields from nowhere but the body', async ({ ann }) => {
  const body = '{"__proto__":{"sku":"a","cutShape":"Round","carat":1}}'
  assert.equal(pointers(refusal(422, await ann.send({ method: 'POST', path: '/v4/diamond', body }))), [
    '/__proto__',
    '/carat',
    '/cutShape',
    '/sku',
  ])
})

test('with a field twice counts the last, as JSON readers do', async ({ ann }) => {
  const body = '{"sku":"a","cutShape":"Round","carat":1,"carat":2}'
  assert.equal(
    (expect(201, await ann.send({ method: 'POST', path: '/v4/diamond', body })).json() as { carat: number }).carat,
    2,
  )
})

const fields = (count: number) =>
  stone(Object.fromEntries(Array.from({ length: count }, (_, number) => [`f${number}`, 1])))

test('with 100,000 fields is refused before it is parsed: 413', async ({ ann }) => {
  const { error } = refusal(413, await ann.post('/v4/diamond', fields(100_000)))
  assert.equal(error, ['The body may have at most 50,000 values, members and elements together'])
})

test('with 40,000 unknown fields is 422 and an answer of bounded size', async ({ ann }) => {
  const answer = await ann.post('/v4/diamond', fields(40_000))
  assert.is(pointers(refusal(422, answer)).length, 51)
  assert.ok(answer.text.length < 20_000, `${answer.text.length} characters`)
})

test('with one name of a megabyte is 422 and does not come back whole', async ({ ann }) => {
  const answer = await ann.post('/v4/diamond', stone({ ['x'.repeat(1_000_000)]: 1 }))
  refusal(422, answer)
  assert.ok(answer.text.length < 10_000, `${answer.text.length} characters`)
})

test.run()
