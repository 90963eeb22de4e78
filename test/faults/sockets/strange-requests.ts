import * as fc from '../../fast-check.ts'
import { METHODS } from 'node:http'
import { ENDINGS, type PiecewiseRequest } from './piecewise-request.ts'

const method = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...METHODS) },
  { weight: 2, arbitrary: fc.constantFrom('CONNECT', 'GET', 'POST', 'OPTIONS', 'TRACE') },
  { weight: 1, arbitrary: fc.constantFrom('PRI', 'FOO', 'get', '', 'GET GET', '\x16\x03\x01') },
)

const target = fc.constantFrom(
  '/health/live',
  '/v4/diamond',
  '/v4/diamond/bulk',
  '/v3/diamond/1',
  '/v4/certification',
  '/v2/constants',
  '/diamond/1',
  '/api/oauth/v2/token',
  '/api/v1/share',
  `/api/v1/secret/${'0'.repeat(50)}`,
  '/secret/x',
  'x:1',
  'example.com:443',
  '*',
  '//',
  '/%',
  'http://[',
  '',
  `/${'a'.repeat(300_000)}`,
)

const header = fc.constantFrom(
  'Upgrade: websocket',
  'Upgrade: h2c',
  'Upgrade:',
  'Connection: Upgrade',
  'Connection: Upgrade, HTTP2-Settings',
  'HTTP2-Settings: AAMAAABkAAQAAP__',
  'Connection: close',
  'Connection: keep-alive',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Content-Length: 7',
  'Content-Length: 0',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Content-Length: 9000000',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: identity',
  'Expect: 100-continue',
  'Expect: miracles',
  'Content-Type: application/json',
  'Content-Type: application/x-www-form-urlencoded',
  'Content-Type: multipart/form-data; boundary=b',
  'Content-Encoding: gzip',
  'Range: bytes=0-',
  'Trailer: X',
  'X: \x00',
  ' folded',
  'no colon',
  `X: ${'y'.repeat(300_000)}`,
)

const body = fc.constantFrom(
  '',
  '{"a":1}',
  '{"sku":"A","cutShape":"Round","carat":1}',
  'a&a&a&a=1',
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.7\n',
  '7\r\n{"a":1}\r\n0\r\n\r\n',
  '7\r\n{"a"',
  'fffffffffffffffff\r\n',
  'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n',
  '\x00\xff\xfe',
  'x'.repeat(100_000),
)

const version = fc.constantFrom(
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/2.0',
  'HTTP/0.9',
  'HTTP/1.1\n',
  '',
)

/** @param authorization a header with valid credentials, so that some requests reach the handlers */
function text(authorization: string): fc.Arbitrary<string> {
  const headers = fc.array(
    fc.oneof({ weight: 4, arbitrary: header }, { weight: 1, arbitrary: fc.constant(authorization) }),
    {
      maxLength: 6,
    },
  )
  const host = fc.constantFrom('Host: a', 'Host: a', 'Host: a', 'Host:', 'Host: a\r\nHost: b', 'X-No: host')
  return fc
    .tuple(method, target, version, host, headers, body)
    .map(([verb, at, protocol, named, more, content]) =>
      [`${verb} ${at} ${protocol}`, named, ...more, '', content].join('\r\n'),
    )
}

/** Complete or truncated requests, sent in one or several pieces, with different ends of the connection. */
export function strangeRequests(authorization: string): fc.Arbitrary<PiecewiseRequest> {
  const cut = fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true }))
  return fc
    .tuple(text(authorization), cut, fc.integer({ min: 1, max: 3 }), fc.constantFrom(...ENDINGS))
    .map(([whole, share, count, ending]) => {
      const sent = whole.slice(0, Math.ceil(whole.length * share))
      const size = Math.max(1, Math.ceil(sent.length / count))
      const pieces = Array.from({ length: count }, (_, index) => sent.slice(index * size, (index + 1) * size))
      return { pieces: pieces.filter((piece) => piece !== ''), ending }
    })
}
