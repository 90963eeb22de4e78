import Koa from 'koa'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { z } from 'zod'
import { RequestError } from '../../../src/domain/request-error.ts'
import { HttpError } from '../../../src/http/kit/http-error.ts'
import type { EndpointContext } from '../../../src/http/kit/endpoint.ts'
import { defineParameters } from '../../../src/http/kit/parameters/parameters.ts'
import { bodyBounds } from '../../../src/http/middleware/request-validation.ts'
import type { RequestContext } from '../../../src/http/middleware/context.ts'
import { array, assert as assertProperty, asyncProperty, constantFrom, integer } from '../../fast-check.ts'

const test = suite('parameters')

const JSON_TYPE = 'application/json'
const FORM = 'application/x-www-form-urlencoded'

const koa = new Koa()
const bounded = bodyBounds({})

function contextWith(
  body: string | Buffer | readonly string[],
  type?: string,
  more: Record<string, string> = {},
  query = '',
): EndpointContext {
  const chunks = [body].flat().map((chunk) => Buffer.from(chunk as string))
  const req = new IncomingMessage(new Socket())
  req.method = 'POST'
  req.url = `/?${query}`
  req.headers = {
    ...more,
    'content-length': String(chunks.reduce((sum, { length }) => sum + length, 0)),
    ...(type !== undefined && { 'content-type': type }),
  }
  for (const chunk of chunks) if (chunk.length > 0) req.push(chunk)
  req.push(null)
  req.complete = true
  const ctx = koa.createContext(req, new ServerResponse(req)) as RequestContext
  bounded(ctx, async () => undefined)
  return ctx as EndpointContext
}

const shape = { a: z.string('must be text').optional(), list: z.array(z.string()).default([]) }
const rack = defineParameters(shape, { rules: 'rack', maxBytes: 1000, verbatimNumbers: ['a'] })
const once = defineParameters({ a: z.string().optional() }, { rules: 'once', maxBytes: 1000 })

/** @param kind of the RequestError, or the status of the HttpError */
const isRejectedWith = (kind: string | number, message: RegExp) => (error: unknown) =>
  error instanceof RequestError &&
  (error instanceof HttpError ? error.status : error.kind) === kind &&
  message.test(error.message)

async function assertRejects(reading: Promise<unknown>, kind: string | number, message: RegExp): Promise<void> {
  const isRefused = isRejectedWith(kind, message)
  const refused = await reading.then(() => false, isRefused)
  assert.ok(refused, `not refused as ${kind} with ${message}`)
}

test('are read the same from a query, a form, a multipart form, JSON and a body without a type', async () => {
  const multipart = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx y\r\n--b--'
  const variants: readonly (readonly [body: string, type: string | undefined, query: string])[] = [
    ['', undefined, 'a=x+y'],
    ['a=x%20y', FORM, ''],
    ['a=x+y', undefined, ''],
    ['a=x+y', 'multipart/form-data', ''],
    [multipart, 'multipart/form-data; boundary=b', ''],
    ['{"a":"x y"}', JSON_TYPE, ''],
    ['\ufeff{"a":"x y"}', 'application/json; charset=utf-8', ''],
    ['a=x+y', FORM, 'a=other'],
  ]
  for (const form of [rack, once]) {
    for (const [body, type, query] of variants) {
      assert.is((await form.read(contextWith(body, type, {}, query))).a, 'x y', `${type} ${query}`)
    }
  }
})

test('of an empty body are absent', async () => {
  for (const type of [undefined, FORM, JSON_TYPE, 'multipart/form-data']) {
    assert.equal(await rack.read(contextWith('', type, {}, 'a=x')), { a: 'x', list: [] }, String(type))
  }
})

test('can be compressed', async () => {
  for (const [encoding, packed] of [
    ['gzip', gzipSync('a=x+y')],
    ['br', brotliCompressSync('a=x+y')],
  ] as const) {
    assert.is((await rack.read(contextWith(packed, FORM, { 'content-encoding': encoding }))).a, 'x y')
  }
  const bomb = gzipSync(Buffer.alloc(1_001, '&'))
  await assertRejects(rack.read(contextWith(bomb, FORM, { 'content-encoding': 'gzip' })), 'too-large', /1,000 bytes/)
})

test('that are repeated: under Rack rules the last one counts, under RFC 6749 the request is rejected', async () => {
  for (const [body, type, query] of [
    ['a=1&a=2', FORM, ''],
    ['{"a":"1","a":"2"}', JSON_TYPE, ''],
    ['{"a":"1","\\u0061":"2"}', JSON_TYPE, ''],
    ['', undefined, 'a=1&a=2'],
  ] as const) {
    assert.is((await rack.read(contextWith(body, type, {}, query))).a, '2')
    await assertRejects(
      once.read(contextWith(body, type, {}, query)),
      'malformed',
      /^The parameter a must be given only once$/,
    )
  }
})

test('in lists are read from list[], list[0] and arrays; the body replaces the query', async () => {
  const listed = async (body: string, type: string, query = '') =>
    (await rack.read(contextWith(body, type, {}, query))).list
  assert.equal(await listed('list[]=1&list[]=2', FORM), ['1', '2'])
  assert.equal(await listed('list[0]=1&list%5B1%5D=2&list[1]=3', FORM), ['1', '3'])
  assert.equal(await listed('list=1&list=2', FORM), ['2'])
  assert.equal(await listed('{"list":["1","2"]}', JSON_TYPE, 'list[]=3&list=4'), ['1', '2'])
})

test('are read unchanged, including U+FFFD and a stray %', async () => {
  for (const [body, type] of [
    ['a=100% \ufffd', FORM],
    ['a=100%25+%ef%bf%bd', FORM],
    ['{"a":"100% \ufffd"}', JSON_TYPE],
    ['{"a":"100% \\ufffd"}', JSON_TYPE],
  ] as const) {
    assert.is((await rack.read(contextWith(body, type))).a, '100% \ufffd', body)
  }
})

test('that are empty or null are absent under RFC 6749 rules, and others must be strings', async () => {
  assert.equal(await once.read(contextWith('{"a":null,"b":""}', JSON_TYPE, {}, 'a=x')), { a: 'x' })
  await assertRejects(once.read(contextWith('{"b":7}', JSON_TYPE)), 'malformed', /^b must be text, got a number$/)
})

test('that are JSON numbers keep their text as sent, if declared so', async () => {
  assert.is((await rack.read(contextWith('{"a":1.50}', JSON_TYPE))).a, '1.50')
  await assertRejects(rack.read(contextWith('{"a":true}', JSON_TYPE)), 'invalid', /^a must be text$/)
})

test('are rejected with an error that describes the fault of the body', async () => {
  await assertRejects(rack.read(contextWith('a=x', FORM, { 'content-encoding': 'lzw' })), 415, /lzw/)
  await assertRejects(rack.read(contextWith('a=x', FORM, { 'content-encoding': 'gzip' })), 'malformed', /Encoding/)
  await assertRejects(
    rack.read(contextWith('{"__proto__":{}}', JSON_TYPE)),
    'malformed',
    /^The body is not valid JSON$/,
  )
  await assertRejects(rack.read(contextWith('{"a":"hidden', JSON_TYPE)), 'malformed', /^The body is not valid JSON$/)
  await assertRejects(rack.read(contextWith('[]', JSON_TYPE)), 'malformed', /must be a JSON object/)
  const bytes = (text: string) => Buffer.from(text, 'latin1')
  const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\xff\r\n--b--'
  for (const [body, type] of [
    ['a=%ff', FORM],
    ['a=\xff', FORM],
    ['{"a":"\xff"}', JSON_TYPE],
    [part, 'multipart/form-data; boundary=b'],
  ] as const) {
    await assertRejects(rack.read(contextWith(bytes(body), type)), 'malformed', /UTF-8/)
  }
  await assertRejects(rack.read(contextWith('&'.repeat(101), FORM)), 'malformed', /100 parameters/)
  await assertRejects(rack.read(contextWith('x'.repeat(1001))), 'too-large', /1,000 bytes/)
})

/** Pieces of multipart bodies: any sequence of them is almost a valid body. */
const PIECES = [
  '--b\r\n',
  '--b--',
  '--b',
  '\r\n',
  '\n',
  'Content-Disposition: form-data; name="a"\r\n\r\n',
  'Content-Disposition: form-data; name="a"; filename="x"',
  'Content-Type: text/plain',
  ':',
  '\0',
  'x',
] as const

test('in any malformed multipart body are read or rejected, however it is split', () =>
  assertProperty(
    asyncProperty(array(constantFrom(...PIECES), { minLength: 1, maxLength: 12 }), integer(), async (pieces, cut) => {
      const body = pieces.join('')
      const at = Math.abs(cut) % body.length
      const context = contextWith([body.slice(0, at), body.slice(at)], 'multipart/form-data; boundary=b')
      const refused = await rack.read(context).then(
        () => undefined,
        (error: unknown) => error,
      )
      if (refused !== undefined) assert.instance(refused, RequestError)
      // An error that the parser emits later would end the process.
      await new Promise(setImmediate)
    }),
    { numRuns: 500 },
  ))

test.run()
