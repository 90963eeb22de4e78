import { brotliCompressSync, constants } from 'node:zlib'
import type { Request } from './request.ts'
import { basic } from './secrets.ts'
import { stone } from './stones.ts'

/** Maximum sizes in bytes of bodies: for a single object, a secret and a bulk. */
const SMALL = 64 * 1024
const SECRET = 2 * SMALL
const BULK = 1024 * 1024

const form = (path: string, body: string): Request => ({
  method: 'POST',
  path,
  body,
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
})

const json = (path: string, body: string, headers: Request['headers'] = {}): Request => ({
  method: 'POST',
  path,
  body: Buffer.from(body),
  headers: { 'Content-Type': 'application/json', ...headers },
})

const filled = (start: string, piece: string, end: string, bytes: number) =>
  start + piece.repeat(Math.floor((bytes - start.length - end.length) / piece.length)) + end

const many = <Value>(count: number, each: (index: number) => Value) =>
  Array.from({ length: count }, (_, index) => each(index))
const named = (count: number, name: string) => Object.fromEntries(many(count, (index) => [`${name}${index}`, index]))
const bulk = (entries: readonly unknown[]) => json('/v4/diamond/bulk', JSON.stringify({ entries }))
const keyed = { 'Idempotency-Key': 'long' }

const KEY = '0'.repeat(50)
const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
const multipart = (body: string): Request => ({
  ...form('/api/v1/share', body),
  headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
})
const nested = (bytes: number) => '{"a":'.repeat(bytes / 6) + '1' + '}'.repeat(bytes / 6)
const compressed = (path: string, body: string) =>
  ({
    ...json(path, body, { 'Content-Encoding': 'br' }),
    body: brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  }) as const

/** Combining marks that normalisation reorders, in time quadratic in their number. */
export const combiningMarks = (count: number): string => `a${'\u0301\u0316'.repeat(count / 2)}`

/** The most expensive request of each kind, with its expected status. */
export const longestRequests: readonly (readonly [name: string, status: number, request: () => Request])[] = [
  ['a form of tiny parameters to share', 400, () => form('/api/v1/share', filled('', 'a&', '', SECRET))],
  ['the same to a secret', 400, () => form(`/api/v1/secret/${KEY}`, filled('', 'a&', '', SECRET))],
  ['the same to its page', 400, () => form(`/secret/${KEY}`, filled('', 'a=1&', '', SECRET))],
  ['a form of escapes', 413, () => form('/api/v1/share', filled('secret=', '%41', '', SECRET))],
  ['a form of 64 KiB to the token server', 400, () => form('/api/oauth/v2/token', filled('', 'a&', '', 64 * 1024))],
  ['a query of 256 KiB to the token server', 400, () => form(filled('/api/oauth/v2/token?', 'a&', '', 250_000), '')],
  ['a query of 256 KiB to share', 400, () => form(filled('/api/v1/share?', 'a&', '', 250_000), '')],
  ['a query of 256 KiB to the list', 422, () => ({ path: filled('/v4/diamond?', 'a&', '', 250_000) })],
  ['a query of escapes to the list', 422, () => ({ path: filled('/v4/diamond?f[sku]=', '%41', '&limit=0', 250_000) })],
  ['a multipart form of tiny parts', 400, () => multipart(filled('', part, '', SECRET))],
  [
    "a multipart form of one part's header",
    400,
    () =>
      multipart(filled('--b\r\nContent-Disposition: form-data; name="a"\r\n', 'X: y\r\n', '\r\n1\r\n--b--', SECRET)),
  ],
  [
    'a header of a hundred thousand tags',
    431,
    () => ({ path: '/v4/diamond/1', headers: { 'If-None-Match': '"'.repeat(200_000) } }),
  ],
  ['500,000 entries', 413, () => json('/v4/diamond/bulk', filled('{"entries":[0', ',0', ']}', BULK))],
  [
    'ignored members of 1 MiB',
    422,
    () => json('/v4/diamond/bulk', filled('{"scores":{"a":0', ',"a":0', '},"entries":[]}', BULK), keyed),
  ],
  ['different members of 1 MiB', 413, () => bulk([named(70_000, 'k')])],
  ['nested objects of 1 MiB', 422, () => json('/v4/diamond/bulk', nested(BULK), keyed)],
  ['nested objects of 64 KiB', 422, () => json('/v4/diamond', nested(SMALL), keyed)],
  ['open brackets of 1 MiB', 400, () => json('/v4/diamond/bulk', '['.repeat(BULK))],
  [
    'ignored members within the limits',
    201,
    () => json('/v4/diamond', JSON.stringify(stone({ scores: named(1_000, 'k') })), keyed),
  ],
  ['one ignored text', 201, () => json('/v4/diamond', JSON.stringify(stone({ scores: 'я'.repeat(SMALL / 2 - 100) })))],
  ['one colour', 422, () => json('/v4/diamond', JSON.stringify(stone({ color: 'Я'.repeat(SMALL / 2 - 100) })))],
  ['500 entries of unknown fields', 422, () => bulk(many(500, () => named(90, 'colour')))],
  ['500 entries of long texts', 422, () => bulk(many(500, () => stone({ girdle: 'Thick-'.repeat(320) })))],
  ['1,000 unknown fields of a certification', 422, () => json('/v4/certification', JSON.stringify(named(1_000, 'f')))],
  ['a bulk that is 256 MiB decompressed', 413, () => compressed('/v4/diamond/bulk', ' '.repeat(256 * BULK))],
  [
    'a compressed bulk of 1,000 entries',
    413,
    () => compressed('/v4/diamond/bulk', filled('{"entries":[', '{},', '{}]}', 3_000)),
  ],
  [
    'an address of marks with wrong credentials',
    401,
    () => ({ path: '/api/v1/authcheck', headers: { Authorization: basic(combiningMarks(9_000), 'wrong') } }),
  ],
]

/** True for requests to the secrets API and the token server, which take no access token. */
export const isForSecrets = ({ path }: Request): boolean => /\/(?:api|secret)\//.test(path)
