import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { Refusal } from '../../../src/domain/refusal.ts'
import { parameters } from '../../../src/http/kit/parameters/parameters.ts'
import { byRack, onceEach } from '../../../src/http/kit/parameters/rules.ts'

const test = suite('parameters')

const NO_QUERY = { search: '' }
const JSON_TYPE = 'application/json'
const FORM = 'application/x-www-form-urlencoded'

function sent(body: string, type?: string, more: Record<string, string> = {}): IncomingMessage {
  const headers = { ...more, ...(type !== undefined && { 'content-type': type }) }
  return Object.assign(Readable.from(body === '' ? [] : [Buffer.from(body)]), { headers }) as unknown as IncomingMessage
}

const shape = { a: z.string('must be text').optional(), list: z.array(z.string()).default([]) }
const rack = parameters(shape, { rules: byRack, upTo: 1000, asWritten: ['a'] })
const once = parameters({ a: z.string().optional() }, { rules: onceEach, upTo: 1000 })

const refusedWith = (kind: string, message: RegExp) => (error: unknown) =>
  error instanceof Refusal && error.kind === kind && message.test(error.message)

async function refuses(reading: Promise<unknown>, kind: string, message: RegExp): Promise<void> {
  const isRefused = refusedWith(kind, message)
  const refused = await reading.then(() => false, isRefused)
  assert.ok(refused, `not refused as ${kind} with ${message}`)
}

test('are one thing in a query, a form, a multipart form, JSON, and without a type', async () => {
  const multipart = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx y\r\n--b--'
  const ways: readonly (readonly [body: string, type: string | undefined, query: string])[] = [
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
    for (const [body, type, query] of ways) {
      assert.is((await form.read(sent(body, type), { search: query })).a, 'x y', `${type} ${query}`)
    }
  }
})

test('of a body without a byte are none, whatever its type and encoding', async () => {
  for (const type of ['text/plain', 'application/json; charset=latin1', 'multipart/form-data; boundary=b']) {
    assert.equal(await rack.read(sent('', type, { 'content-encoding': 'gzip' }), { search: 'a=x' }), {
      a: 'x',
      list: [],
    })
  }
})

test('that stand twice: by Rack the last counts, by RFC 6749 the request is refused', async () => {
  for (const [body, type, query] of [
    ['a=1&a=2', FORM, ''],
    ['{"a":"1","a":"2"}', JSON_TYPE, ''],
    ['{"a":"1","\\u0061":"2"}', JSON_TYPE, ''],
    ['', undefined, 'a=1&a=2'],
  ] as const) {
    assert.is((await rack.read(sent(body, type), { search: query })).a, '2')
    await refuses(once.read(sent(body, type), { search: query }), 'malformed', /^The parameter a stands twice$/)
  }
})

test('in lists are read as a, list[], list[0] and arrays; those of the body take the place of the query’s', async () => {
  const listed = async (body: string, type: string, query = '') =>
    (await rack.read(sent(body, type), { search: query })).list
  assert.equal(await listed('list[]=1&list[]=2', FORM), ['1', '2'])
  assert.equal(await listed('list[0]=1&list%5B1%5D=2&list[1]=3', FORM), ['1', '3'])
  assert.equal(await listed('list=1&list=2', FORM), ['2'])
  assert.equal(await listed('{"list":["1","2"]}', JSON_TYPE, 'list[]=3&list=4'), ['1', '2'])
})

test('that are empty or null are absent by RFC 6749, and must be texts', async () => {
  assert.equal(await once.read(sent('{"a":null,"b":""}', JSON_TYPE), { search: 'a=x' }), { a: 'x' })
  await refuses(once.read(sent('{"b":7}', JSON_TYPE), NO_QUERY), 'malformed', /^b must be a text, got a number$/)
})

test('that are numbers in JSON are the texts that were sent, where that is declared', async () => {
  assert.is((await rack.read(sent('{"a":1.50}', JSON_TYPE), NO_QUERY)).a, '1.50')
  await refuses(rack.read(sent('{"a":true}', JSON_TYPE), NO_QUERY), 'invalid', /^a must be text$/)
})

test('are refused by what is wrong with the body', async () => {
  await refuses(rack.read(sent('x', 'text/plain'), NO_QUERY), 'unsupported', /got text\/plain$/)
  await refuses(rack.read(sent('a=x', FORM, { 'content-encoding': 'gzip' }), NO_QUERY), 'unsupported', /gzip/)
  await refuses(rack.read(sent('{}', 'application/json; charset=latin1'), NO_QUERY), 'unsupported', /latin1/)
  await refuses(rack.read(sent('{"a":"hidden', JSON_TYPE), NO_QUERY), 'malformed', /^The body is not JSON$/)
  await refuses(rack.read(sent('[]', JSON_TYPE), NO_QUERY), 'malformed', /must be a JSON object/)
  await refuses(rack.read(sent('a=%ff', FORM), NO_QUERY), 'malformed', /UTF-8/)
  await refuses(rack.read(sent('&'.repeat(101), FORM), NO_QUERY), 'malformed', /at most 100 parameters/)
  await refuses(rack.read(sent('x'.repeat(1001)), NO_QUERY), 'too-large', /1000 bytes/)
})

test.run()
