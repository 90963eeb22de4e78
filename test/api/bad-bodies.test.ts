import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import type { FieldDefinition } from '../../src/domain/diamond/field.ts'
import { FIELDS } from '../../src/domain/diamond/fields.ts'
import { expect, pointers, refusal, type Request } from './harness/request.ts'
import { newSender } from './harness/secrets.ts'
import { apiSuite } from './harness/service.ts'
import { expectNoChange, created, stone } from './harness/stones.ts'

const test = apiSuite('a request body')

/** Every diamond request that has a body. */
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
  ['of white space only', ' \n'],
  ['that is truncated', '{"sku":"a"'],
  ['with characters after its end', '{"sku":"a"} x'],
  ['with a trailing comma', '{"sku":"a",}'],
  ['in single quotes', "{'sku':'a'}"],
  ['with NaN', '{"sku":"a","cutShape":"Round","carat":NaN}'],
  ['with Infinity', '{"carat":Infinity}'],
  ['with a comment', '{/* */}'],
  ['with a bare word', 'undefined'],
  ['with a control character in a string', '{"sku":"a\u0001"}'],
  ['that is URL-encoded', 'sku=a&carat=1'],
  ['with invalid UTF-8', Buffer.concat([Buffer.from('{"sku":"'), bytes(0xff, 0xfe), Buffer.from('"}')])],
  [
    'with a surrogate encoded in UTF-8',
    Buffer.concat([Buffer.from('{"sku":"'), bytes(0xed, 0xa0, 0x80), Buffer.from('"}')]),
  ],
  ['in UTF-16', Buffer.from('{"sku":"a"}', 'utf16le')],
  ['of NUL bytes', bytes(0, 0, 0, 0)],
  ['with an incomplete number', '{"carat":1.}'],
  ['of 60,000 open brackets', '['.repeat(60_000)],
]
for (const [description, body] of malformed) {
  test(`${description} is rejected with 400 and changes nothing`, async ({ ann }) => {
    const { id } = await created(ann)
    await expectNoChange([ann], async () => {
      for (const where of writes(id)) refusal(400, await ann.send({ ...where, body }))
    })
  })
}

test('with a byte order mark is accepted', async ({ ann }) => {
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
  test(`of the type ${type} is rejected with 415 and changes nothing`, async ({ ann }) => {
    const { id } = await created(ann)
    await expectNoChange([ann], async () => {
      for (const where of writes(id)) {
        refusal(415, await ann.send({ ...where, json: stone(), headers: { 'Content-Type': type } }))
      }
    })
  })
}

for (const charset of ['iso-8859-1', 'UTF-16', '"windows-1252"', 'us-ascii', 'utf-8x']) {
  test(`with the charset ${charset} is rejected with 415 and changes nothing`, async ({ ann }) => {
    const { id } = await created(ann)
    await expectNoChange([ann], async () => {
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

test('with the charset UTF-8 is accepted in each spelling', async ({ ann }) => {
  for (const charset of ['utf-8', 'UTF-8', '"utf-8"', 'utf8']) {
    const headers = { 'Content-Type': `application/json;charset=${charset}` }
    expect(201, await ann.send({ method: 'POST', path: '/v4/diamond', json: stone(), headers }))
  }
})

test('of the secrets API in a charset other than UTF-8 is rejected with 415', async ({ service }) => {
  const { authorization } = await newSender(service.installation)
  const headers = { 'Content-Type': 'application/json; charset=latin1', Authorization: authorization }
  expect(415, await service.send({ method: 'POST', path: '/api/v1/share', json: { secret: 'x' }, headers }))
})

test('in Latin-1 is rejected with 400 and changes nothing', async ({ ann, service }) => {
  const { id } = await created(ann)
  const body = Buffer.from(JSON.stringify(stone({ id, sku: 'é' })), 'latin1')
  await expectNoChange([ann], async () => {
    for (const where of [...writes(id), { method: 'POST', path: '/v4/certification' }]) {
      refusal(400, await ann.send({ ...where, body }))
    }
  })
  const { authorization } = await newSender(service.installation)
  const headers = { 'Content-Type': 'application/json', Authorization: authorization }
  const secret = Buffer.from(JSON.stringify({ secret: 'é' }), 'latin1')
  expect(400, await service.send({ method: 'POST', path: '/api/v1/share', body: secret, headers }))
})

test('with a number beyond the range of a double is rejected with 422 and says so', async ({ ann }) => {
  for (const number of ['1e999', '-1e999']) {
    for (const field of ['carat', 'price', 'color', 'access']) {
      const text = JSON.stringify(stone({ carat: 1 })).replace(/}$/, `,"${field}":${number}}`)
      const body = refusal(422, await ann.send({ method: 'POST', path: '/v4/diamond', body: text }))
      assert.equal(pointers(body), [`/${field}`])
      assert.ok(body.error.some((message) => message.endsWith('got a number beyond 1.8e308')))
    }
  }
})

const ENCODERS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync } as const

for (const [encoding, encode] of Object.entries(ENCODERS)) {
  test(`compressed with ${encoding} is accepted, and rejected if it is not compressed, truncated or too large when decompressed`, async ({
    ann,
  }) => {
    const headers = { 'Content-Encoding': encoding }
    const send = (body: Buffer) => ann.send({ method: 'POST', path: '/v4/diamond', body, headers })
    const whole = encode(JSON.stringify(stone()))
    expect(201, await send(whole))
    await expectNoChange([ann], async () => {
      for (const body of [Buffer.from(JSON.stringify(stone())), whole.subarray(0, -9)]) {
        const { error } = refusal(400, await send(body))
        assert.equal(error, ['The body does not match its Content-Encoding'])
      }
      const large = encode(JSON.stringify(stone({ scores: 'x'.repeat(50_000_000) })))
      assert.ok(large.length < LIMIT, `${large.length} bytes`)
      refusal(413, await send(large))
      refusal(400, await send(encode(Buffer.from('{"sku":"é"}', 'latin1'))))
      // The decompressor may detect the damage after the reader has already rejected the body for its size.
      for (let more = 1; more < 20_000; more += 1_000) {
        const broken = encode(sized(stone(), LIMIT + more))
        broken.writeUInt32LE(0, broken.length - 8)
        assert.ok([400, 413].includes((await send(broken)).status))
      }
    })
  })
}

test('in an unsupported Content-Encoding is rejected with 415', async ({ ann }) => {
  for (const encoding of ['zstd', 'compress', 'gzip, identity', 'gzip, gzip', 'x']) {
    const headers = { 'Content-Encoding': encoding }
    refusal(415, await ann.send({ method: 'POST', path: '/v4/diamond', json: stone(), headers }))
  }
})

test('is accepted without a Content-Type and with each JSON type', async ({ ann }) => {
  const body = JSON.stringify(stone())
  expect(201, await ann.send({ method: 'POST', path: '/v4/diamond', body }))
  for (const type of ['application/json', 'APPLICATION/JSON; charset=utf-8', 'application/merge-patch+json']) {
    const headers = { 'Content-Type': type, 'Content-Encoding': 'identity' }
    expect(201, await ann.send({ method: 'POST', path: '/v4/diamond', body, headers }))
  }
})

/** Maximum sizes in bytes of a body for one diamond and of a bulk body. */
const LIMIT = 64 * 1024
const BULK_LIMIT = 1024 * 1024

/** JSON of exactly `size` bytes: the ignored member `scores` pads it. */
const sized = (start: object, size: number) => {
  const text = `${JSON.stringify(start).slice(0, -1)},"scores":"`
  return Buffer.from(`${text}${'x'.repeat(size - text.length - 2)}"}`)
}

test('of exactly 64 KiB is accepted and of one byte more is rejected with 413, with and without a Content-Length', async ({
  ann,
}) => {
  const fits = sized(stone(), LIMIT)
  assert.is(fits.length, LIMIT)
  expect(201, await ann.send({ method: 'POST', path: '/v4/diamond', body: fits }))
  expect(201, await ann.send({ method: 'POST', path: '/v4/diamond', body: [fits] }))
  await expectNoChange([ann], async () => {
    for (const size of [LIMIT + 1, 9_000_000]) {
      const body = sized(stone(), size)
      const { error } = refusal(413, await ann.send({ method: 'POST', path: '/v4/diamond', body }))
      assert.equal(error, ['The body must be at most 65,536 bytes'])
      refusal(413, await ann.send({ method: 'POST', path: '/v4/diamond', body: [body] }))
    }
  })
})

test('of a bulk request has room for 500 diamonds with every text at its longest, and for 500 as the API returns them', async ({
  ann,
}) => {
  const { id } = await created(ann)
  const longest = (field: FieldDefinition) => {
    if (field.kind === 'text' || field.kind === 'shape') return 'Ж'.repeat(field.to)
    if (field.kind === 'entry')
      return field.dictionary.all.map(({ title }) => title).toSorted((one, other) => other.length - one.length)[0]
    if (field.kind === 'scale') return 'Extremely Thick - Extremely Thick'
    return field.kind === 'amount' ? 1.234_567_890_123_456_7e-100 : field.kind === 'flag' ? false : 2
  }
  for (const version of ['v3', 'v4'] as const) {
    const fields = Object.entries<FieldDefinition>(FIELDS).filter(([, { versions }]) => versions.includes(version))
    // By default PHP and Python escape letters beyond ASCII: six bytes a letter.
    const written: Record<string, unknown> = {}
    const proportions: Record<string, unknown> = {}
    for (const [name, field] of fields) {
      const [, member] = name.split('.')
      if (member === undefined) written[name] = longest(field)
      else written['proportions'] = Object.assign(proportions, { [member]: 61.234_567_890_123_45 })
    }
    const entry = JSON.stringify({ ...written, id: Number.MAX_SAFE_INTEGER }).replaceAll('Ж', '\\u0416')
    const body = `{"entries":[${Array(500).fill(entry).join()}]}`
    assert.ok(body.length <= BULK_LIMIT, `${body.length} bytes`)
    refusal(422, await ann.send({ method: 'PATCH', path: `/${version}/diamond/bulk`, body }))
    const { text } = await ann.send({ path: `/${version}/diamond/${id}` })
    assert.ok(500 * (text.length + entry.length / 2) < BULK_LIMIT)
  }
})

test('over 1 MiB is rejected with 413 by every endpoint and changes nothing', async ({ ann }) => {
  const { id } = await created(ann)
  const body = sized({ sku: 'x' }, BULK_LIMIT + 1)
  await expectNoChange([ann], async () => {
    for (const where of writes(id)) {
      refusal(413, await ann.send({ ...where, body }))
      refusal(413, await ann.send({ ...where, body: [body.subarray(0, 500_000), body.subarray(500_000)] }))
    }
  })
})

test('nested too deeply is rejected with 422, with and without an Idempotency-Key', async ({ ann }) => {
  const { id } = await created(ann)
  const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  await expectNoChange([ann], async () => {
    for (const depth of [32, 2_000, 30_000]) {
      for (const [field, key] of [
        ['sku', 'a'],
        ['scores', 'b'],
        ['cutShape', 'c'],
        ['unknown', 'd'],
      ] as const) {
        const body = `{"sku":"a","cutShape":"Round","carat":1,"${field}":${deep(depth)}}`
        const headers = { 'Idempotency-Key': key }
        refusal(422, await ann.send({ method: 'POST', path: '/v4/diamond', body, headers }))
        refusal(422, await ann.send({ method: 'PATCH', path: `/v4/diamond/${id}`, body }))
      }
    }
    const entries = `{"entries":[{"id":${deep(400_000)}}]}`
    refusal(422, await ann.send({ method: 'DELETE', path: '/v4/diamond/bulk', body: entries }))
    refusal(422, await ann.send({ method: 'POST', path: '/v4/diamond', body: deep(9000) }))
  })
  const brackets = '['.repeat(5_000)
  refusal(422, await ann.post('/v4/diamond', stone({ sku: brackets })))
  expect(201, await ann.post('/v4/diamond', stone({ scores: `\\"${brackets}` })))
})

for (const number of ['1e999', '-1e999', '1e400', '9'.repeat(400)]) {
  test(`with the number ${number.slice(0, 10)} is rejected with 422 at its field`, async ({ ann }) => {
    for (const field of ['carat', 'price', 'access', 'clarity', 'cutShape', 'sku', 'isColored']) {
      const body = `{"sku":"a","cutShape":"Round","carat":1,"${field}":${number}}`
      const response = await ann.send({ method: 'POST', path: '/v4/diamond', body })
      assert.equal(pointers(refusal(422, response)), [`/${field}`])
    }
  })
}

test('with a number too small for a double is read as 0', async ({ ann }) => {
  const body = '{"sku":"a","cutShape":"Round","carat":1e-400}'
  assert.equal(pointers(refusal(422, await ann.send({ method: 'POST', path: '/v4/diamond', body }))), ['/carat'])
})

for (const field of ['constructor', 'prototype', 'toString', 'hasOwnProperty', '', ' ', 'sku ', 'SKU']) {
  test(`with the field ${JSON.stringify(field)} is rejected with 422 at that field`, async ({ ann }) => {
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

test('with a member __proto__ at any depth is rejected with 400 and changes nothing', async ({ ann, service }) => {
  const { id } = await created(ann)
  const proto = '"__proto__":{"sku":"a","cutShape":"Round","carat":1}'
  await expectNoChange([ann], async () => {
    for (const body of [`{${proto}}`, `{"id":${id},${proto}}`, `{"entries":[{${proto}}]}`, `{"scores":{${proto}}}`]) {
      for (const where of writes(id)) refusal(400, await ann.send({ ...where, body }))
    }
  })
  const { authorization } = await newSender(service.installation)
  const headers = { 'Content-Type': 'application/json', Authorization: authorization }
  expect(400, await service.send({ method: 'POST', path: '/api/v1/share', body: `{"secret":"x",${proto}}`, headers }))
  assert.is(Object.hasOwn(Object.prototype, 'sku'), false)
})

test('with a duplicate field uses the last value, as JSON parsers do', async ({ ann }) => {
  const body = '{"sku":"a","cutShape":"Round","carat":1,"carat":2}'
  assert.equal(
    (expect(201, await ann.send({ method: 'POST', path: '/v4/diamond', body })).json() as { carat: number }).carat,
    2,
  )
})

const fields = (count: number) =>
  stone(Object.fromEntries(Array.from({ length: count }, (_, number) => [`f${number}`, 1])))

test('with more than 1,000 fields is rejected with 413', async ({ ann }) => {
  const { error } = refusal(413, await ann.post('/v4/diamond', fields(1_000)))
  assert.equal(error, ['An object or array must have at most 1,000 members, got 1003'])
})

test('with 900 unknown fields is rejected with 422 and a response of bounded size', async ({ ann }) => {
  const response = await ann.post('/v4/diamond', fields(900))
  assert.is(pointers(refusal(422, response)).length, 51)
  assert.ok(response.text.length < 20_000, `${response.text.length} characters`)
})

test('with a field name of 60,000 characters is rejected with 422 and a response that truncates the name', async ({
  ann,
}) => {
  const response = await ann.post('/v4/diamond', stone({ ['x'.repeat(60_000)]: 1 }))
  refusal(422, response)
  assert.ok(response.text.length < 10_000, `${response.text.length} characters`)
})

test.run()
