import * as assert from 'uvu/assert'
import { request as send, type IncomingHttpHeaders } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, type Request } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { newSender } from './harness/secrets.ts'
import { created, createdMany, stone } from './harness/stones.ts'

const test = apiSuite('a response over 1 KiB')

/** A response with its bytes as received. */
type WireResponse = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly bytes: Buffer }

function sendUndecoded(address: string, { method = 'GET', path, headers = {}, body }: Request): Promise<WireResponse> {
  const { hostname, port } = new URL(address)
  return new Promise((done, fail) => {
    const sending = send({ hostname, port, method, path, headers: headers as Record<string, string> }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        done({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
      )
    })
    sending.on('error', fail)
    sending.end(body)
  })
}

const decompress = {
  br: (bytes: Buffer) => brotliDecompressSync(bytes).toString(),
  gzip: (bytes: Buffer) => gunzipSync(bytes).toString(),
}

test('is compressed with gzip or br on request, on every endpoint, and unchanged when decompressed', async ({
  service,
}) => {
  const vendor = await service.newVendor()
  await createdMany(vendor, 40)
  const bearer = { Authorization: `Bearer ${vendor.token}` }
  const json = { ...bearer, 'Content-Type': 'application/json' }
  const bad = { carat: -1, ...Object.fromEntries([...Array(40).keys()].map((n) => [`wrong${n}`, n])) }
  const requests: readonly Request[] = [
    { path: '/v4/diamond?limit=40', headers: bearer },
    { path: '/v3/diamond', headers: { Authorization: `bearer ${vendor.token}` } },
    { path: '/v2/constants' },
    { path: '/v4/diamond/export', headers: bearer },
    { path: '/v4/diamond/export?format=jsonl', headers: bearer },
    { method: 'POST', path: '/v4/diamond', headers: json, body: JSON.stringify(stone(bad)) },
    { method: 'PATCH', path: '/v4/diamond/bulk', headers: json, body: JSON.stringify({ entries: [bad] }) },
  ]
  for (const request of requests) {
    const plain = await sendUndecoded(service.url, request)
    assert.is(plain.headers['content-encoding'], undefined)
    assert.match(String(plain.headers.vary), /\bAccept-Encoding\b/)
    for (const encoding of ['br', 'gzip'] as const) {
      const headers = { ...request.headers, 'Accept-Encoding': encoding }
      const packed = await sendUndecoded(service.url, { ...request, headers })
      assert.is(packed.status, plain.status)
      assert.is(packed.headers['content-encoding'], encoding, request.path)
      assert.is(packed.headers['content-type'], plain.headers['content-type'])
      assert.is(packed.headers.etag, plain.headers.etag)
      assert.match(String(packed.headers.vary), /\bAccept-Encoding\b/)
      assert.ok(packed.bytes.length < plain.bytes.length / 2, `${packed.bytes.length} of ${plain.bytes.length}`)
      assert.is(withoutId(decompress[encoding](packed.bytes)), withoutId(plain.bytes.toString()))
    }
  }
})

const withoutId = (text: string) => text.replace(/"requestId":"[^"]*"/, '')

test('is compressed for a public page, and not for a page with signed links', async ({ service, ann }) => {
  const [open, restricted] = [await created(ann, { access: 2 }), await created(ann)]
  const [link] = restricted['_links'] as readonly { readonly href: string }[]
  const { pathname, search } = new URL(link?.href ?? '')
  for (const [path, caching, encoding] of [
    [`/diamond/${open.id}`, 'public, no-cache', 'br'],
    [`/diamond/${restricted.id}`, 'private, no-cache', 'br'],
    [pathname + search, 'no-store', undefined],
  ] as const) {
    const { headers, bytes } = await sendUndecoded(service.url, { path, headers: { 'Accept-Encoding': 'br' } })
    assert.equal([headers['content-encoding'], headers['cache-control']], [encoding, caching], path)
    const text = encoding === undefined ? bytes.toString() : decompress.br(bytes)
    assert.ok(text.startsWith('<!doctype html>'))
    assert.is(text.includes('signature='), caching === 'no-store')
  }
})

test('has the same headers for HEAD as for GET, except those of a compressed body', async ({ service }) => {
  const request = { path: '/v2/constants', headers: { 'Accept-Encoding': 'gzip' } }
  const [get, head] = [
    await sendUndecoded(service.url, request),
    await sendUndecoded(service.url, { ...request, method: 'HEAD' }),
  ]
  for (const name of ['content-type', 'cache-control', 'vary', 'etag']) {
    assert.is(head.headers[name], get.headers[name])
  }
  assert.is(head.bytes.length, 0)
})

test('is the only kind that is compressed; smaller ones are sent unchanged', async ({ service }) => {
  const vendor = await service.newVendor()
  for (const path of ['/v4/diamond/1', '/v2/cutshapes/2', '/health/live']) {
    const headers = { 'Accept-Encoding': 'br, gzip', Authorization: `Bearer ${vendor.token}` }
    const response = await sendUndecoded(service.url, { path, headers })
    assert.is(response.headers['content-encoding'], undefined)
  }
})

test('is never compressed if it contains a secret', async ({ service }) => {
  const sender = await newSender(service.installation, 'pro')
  const headers = { 'Accept-Encoding': 'gzip, br', Authorization: sender.authorization }
  const form = { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' }
  const secret = 'x'.repeat(5000)
  for (const revealed of [
    (key: string) => ({ method: 'POST', path: `/api/v1/secret/${key}`, headers }),
    (key: string) => ({ method: 'POST', path: `/secret/${key}`, headers: { ...form, Authorization: '' } }),
  ]) {
    const shared = await service.send({
      method: 'POST',
      path: '/api/v1/share',
      headers: form,
      body: `secret=${secret}`,
    })
    const { secret_key } = expect(200, shared).json() as { secret_key: string }
    const response = await sendUndecoded(service.url, revealed(secret_key))
    assert.is(response.status, 200)
    assert.is(response.headers['content-encoding'], undefined)
    assert.ok(response.bytes.toString().includes(secret))
  }
})

test.run()
