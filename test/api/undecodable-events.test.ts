import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toEventMetadata } from '../../src/events/event-metadata.ts'
import { registerClient } from '../../src/commands/clients/clients.ts'
import { IdAllocator } from '../../src/commands/installation/id-allocator.ts'
import { parseSecretKeyDigest, parseMetadataKey, secretStream } from '../../src/credentials/secret-keys.ts'
import type { Vendor } from './harness/account.ts'
import { attached, pathOf, text, upload } from './harness/form.ts'
import { expect, refusal, request, type ApiResponse } from './harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from './harness/service.ts'
import { form, newSender, post, shared, type Sender } from './harness/secrets.ts'
import { created, stone } from './harness/stones.ts'

type Given = { service: Service; ann: Vendor; sender: Sender }
const test = suite<Given>('an undecodable event')
test.before(async (given) => {
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
  given.ann = given.service.ann
  given.sender = await newSender(given.service.installation)
})
test.after(({ service }) => service.stop())

const origin = { actor: 'operator', via: 'cli', correlation: 'test' } as const

/** Events that a newer release may have written, and one that no release should have written. */
const KINDS = [
  { what: 'of a newer release', schema: '999', data: {} },
  { what: 'with an invalid payload', schema: '1', data: { broken: true } },
  { what: 'of an unknown type', schema: '1', data: {}, type: 'Foretold' },
] as const

type UndecodableEvent = {
  readonly what: string
  readonly schema: string
  readonly data: object
  readonly type?: string
}

/** Appends such an event at the current revision of a stream. */
async function appendUndecodable(
  { installation: { store } }: Service,
  stream: string,
  type: string,
  kind: UndecodableEvent,
): Promise<void> {
  const [last] = await store.readStream(stream, { last: 1 })
  const { schema, data } = kind
  const written = { type: kind.type ?? type, data: { ...data }, metadata: toEventMetadata(origin, Date.now(), schema) }
  const event = { id: randomUUID(), ...written }
  await store.append(stream, last?.revision ?? 'none', [event])
}

/** Expects 503 with Retry-After for each request, and that no event is appended. */
async function expectUnavailable(
  { installation: { store } }: Service,
  requests: readonly (() => Promise<ApiResponse>)[],
) {
  const head = await store.head()
  for (const send of requests) {
    const response = expect(503, await send())
    assert.ok(Number(response.headers['retry-after']) > 0)
    assert.not.match(response.text, /broken|schema|expected/)
  }
  assert.equal(await store.head(), head)
}

for (const kind of KINDS as readonly UndecodableEvent[]) {
  test(`in a diamond, ${kind.what}, blocks its changes but no reads`, async ({ service, ann }) => {
    const { id } = await created(ann, { sku: 'SPOILT' })
    const good = await created(ann)
    await appendUndecodable(service, `diamond-${id}`, 'DiamondPatched', kind)
    const requests = ['v3', 'v4'].flatMap((version) => [
      () => ann.patch(`/${version}/diamond/${id}`, { price: 1 }),
      () => ann.put(`/${version}/diamond/${id}`, { price: 1 }),
      () => ann.remove(`/${version}/diamond/${id}`),
      () =>
        ann.patch(`/${version}/diamond/bulk`, {
          entries: [
            { id: good.id, price: 1 },
            { id, price: 1 },
          ],
        }),
      () => ann.put(`/${version}/diamond/bulk`, { entries: [{ id, price: 1 }] }),
      () => ann.remove(`/${version}/diamond/bulk`, { entries: [{ id: good.id }, { id }] }),
    ])
    await expectUnavailable(service, requests)
    refusal(503, await ann.patch(`/v4/diamond/${id}`, { price: 1 }))
    for (const version of ['v3', 'v4']) expect(200, await ann.get(`/${version}/diamond/${id}`))
    expect(200, await ann.get('/v4/diamond'))
    expect(200, await ann.patch(`/v4/diamond/${good.id}`, { price: 2 }))
  })

  test(`in a diamond, ${kind.what}, blocks requests for its certifications`, async ({ service, ann }) => {
    const { id } = await created(ann)
    const before = await attached(ann, id)
    await appendUndecodable(service, `diamond-${id}`, 'CertificationAttached', kind)
    await expectUnavailable(service, [
      () => ann.post('/v4/certification', { product: id, laboratory: 'GIA' }),
      () => upload(ann, [text('product', id), text('laboratory', 'GIA')]),
      () => ann.remove(`/v4/certification/${before.id}`),
      () => service.send({ path: pathOf(before.file) }),
    ])
  })

  test(`in the record of a request, ${kind.what}, blocks its repetition`, async ({ service, ann }) => {
    const send = () => ann.post('/v4/diamond', stone(), { 'Idempotency-Key': `spoilt ${kind.what}` })
    expect(201, await send())
    const { store } = service.installation
    let record = ''
    for await (const { stream } of store.readAll('start', { prefixes: ['request-'] })) record = stream
    await appendUndecodable(service, record, 'RequestDone', kind)
    await expectUnavailable(service, [send])
  })

  test(`in a secret, ${kind.what}, blocks revealing and burning it`, async ({ service, sender }) => {
    const { url } = service
    const { secret_key, metadata_key } = await shared(url, sender, { secret: 'kept', passphrase: 'p' })
    const digest = parseSecretKeyDigest(secret_key)
    assert.is(digest, parseMetadataKey(metadata_key)?.digest)
    await appendUndecodable(service, secretStream(digest ?? ''), 'PassphraseTried', kind)
    await expectUnavailable(service, [
      () => post(url, `secret/${secret_key}`),
      () => request(url, form(`/api/v1/secret/${secret_key}`, 'passphrase=p')),
      () => post(url, `private/${metadata_key}`),
      () => post(url, `private/${metadata_key}/burn`, { Authorization: sender.authorization }),
      () => request(url, { path: `/secret/${secret_key}` }),
      () => request(url, { path: `/private/${metadata_key}` }),
      () => request(url, form(`/private/${metadata_key}/burn`, 'passphrase=p')),
      () => request(url, form(`/secret/${secret_key}`, 'passphrase=p')),
    ])
  })

  for (const type of ['PasswordChanged', 'LoginReserved']) {
    test(`in an account as ${type}, ${kind.what}, blocks authentication`, async ({ service }) => {
      const other = await newSender(service.installation)
      const stream =
        type === 'LoginReserved'
          ? await service.installation.people.loginStreamOf(other.email)
          : `account-${other.account}`
      const logIn = await tokenRequest(service, { grant_type: 'password', username: other.email, password: 'x' })
      await appendUndecodable(service, stream, type, kind)
      await expectUnavailable(service, [
        logIn,
        () => request(service.url, form('/api/v1/share', 'secret=x', other.authorization)),
        () => request(service.url, { path: '/api/v1/authcheck', headers: { Authorization: other.authorization } }),
      ])
    })
  }

  test(`in a session, ${kind.what}, blocks its token requests`, async ({ service }) => {
    const { refreshToken } = await service.newVendor()
    const refresh = await tokenRequest(service, { grant_type: 'refresh_token', refresh_token: refreshToken })
    const session = refreshToken.split('.')[0] ?? ''
    await appendUndecodable(service, `session-${session}`, 'TokenRefreshed', kind)
    await expectUnavailable(service, [
      refresh,
      await tokenRequest(service, { token: refreshToken }, 'revoke'),
      await tokenRequest(service, { token: refreshToken }, 'introspect'),
    ])
  })

  test(`in a client, ${kind.what}, blocks its log-ins`, async ({ service }) => {
    const logIn = await tokenRequest(service, { grant_type: 'password', username: 'a@example.com', password: 'x' })
    await appendUndecodable(service, `client-${lastClient}`, 'ClientSecretRotated', kind)
    await expectUnavailable(service, [logIn])
  })
}

let lastClient = ''

/** A request to the token server by a newly registered client. */
async function tokenRequest({ installation, url }: Service, parameters: Record<string, string>, path = 'token') {
  const { context } = installation
  const clientIds = new IdAllocator({ ...context, kind: 'client', size: 1, origin })
  const { client, secret } = await registerClient({ ...context, clientIds }, 'tests', origin)
  lastClient = client
  const body = new URLSearchParams({ client_id: client, client_secret: secret, ...parameters }).toString()
  return () => request(url, form(`/api/oauth/v2/${path}`, body))
}

test('in the reservations of ids blocks creation once the reserved ids are used up', async () => {
  const first = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
  try {
    await appendUndecodable(first, 'ids-diamond', 'IdsReserved', KINDS[0])
    const { ann } = first
    const responses = await Promise.all(Array.from({ length: 4 }, (_, n) => ann.post('/v4/diamond/bulk', bulk(n))))
    for (const { status } of responses) assert.ok(status === 201 || status === 503, String(status))
    assert.ok(responses.some(({ status }) => status === 503))
  } finally {
    await first.stop()
  }
})

const bulk = (of: number) => ({ entries: Array.from({ length: 500 }, (_, n) => stone({ sku: `IDS-${of}-${n}` })) })

test.run()
