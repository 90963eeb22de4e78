import * as assert from 'uvu/assert'
import { ENDPOINTS } from '../../src/http/endpoints.ts'
import { attached, file, formBody, formHeaders, pathOf, smallPdf, text } from './harness/form.ts'
import { uploadRequest, uploaded } from './harness/imports.ts'
import { attachModel, modelFile, modelRequest } from './harness/models.ts'
import { expect, type Request } from './harness/request.ts'
import { withHeaders } from './harness/sample-requests.ts'
import { basic, form, newSender, shared, type Sender } from './harness/secrets.ts'
import { apiSuite, type Service } from './harness/service.ts'
import { created, createdMany, list, shown, stone } from './harness/stones.ts'
import { randomFor } from '../seeded.ts'

const test = apiSuite('a header that a response depends on', {
  settings: { RATE_LIMIT: '0', WEBHOOKS_HTTP: 'true', SECURITY_CONTACT: 'mailto:a@example.com' },
})

/** Unusual and malformed values of these headers. Each endpoint gets all of the encodings, and one of each other header. */
const STRANGE_HEADERS: Readonly<Record<string, readonly string[]>> = {
  Accept: ['application/xml', '*/*;q=0', 'text/html;q=0, application/json;q=0', ';;;', '/', 'a/b/c;q=x'],
  'Accept-Encoding': [
    'identity;q=0',
    '*;q=0',
    'deflate, *;q=0',
    'gzip;q=0, br;q=0, identity;q=0',
    'zstd',
    'br;q=abc',
    ';q=',
    ',,,',
    '',
  ],
  'Accept-Language': ['*;q=0', 'xx-yy-', ';;'],
  'Accept-Charset': ['utf-16, *;q=0', ';;'],
  Range: ['bytes=0-0', 'bytes=-1', 'bytes=5-2', 'bytes=0-,1-', 'items=0-5', 'bytes=', 'bytes=99999999999999999999-'],
  'If-Range': ['nonsense', '"x"'],
  'If-Match': ['*', '"x"', 'W/"1"', '""', ';;'],
  'If-None-Match': ['*', '"x"', '"', ';;'],
  'If-Modified-Since': ['nonsense', 'Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 31 Dec 9999 23:59:59 GMT'],
  'If-Unmodified-Since': ['nonsense', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  Origin: ['null', 'http://example.com', 'nonsense://', '%', ''],
  TE: ['trailers, deflate;q=0.5', 'chunked;q=0', ';;'],
  Prefer: ['return=minimal', 'respond-async, wait=0', ';;;'],
  'Cache-Control': ['no-transform', 'only-if-cached', ';;'],
}

/** Creates a request to an endpoint, with the data that it needs. */
type NewRequest = () => Promise<Request> | Request

/** A request to each endpoint, by operation id. Those that write make a response over 1 KiB where they can. */
async function requestsToAllEndpoints(
  service: Service,
  vendor: Service['ann'],
  sender: Sender,
): Promise<Record<string, NewRequest>> {
  const bearer = { Authorization: `Bearer ${vendor.token}` }
  const apiToken = { Authorization: sender.authorization }
  const json = (method: string, path: string, body: unknown): Request => ({ method, path, headers: bearer, json: body })
  const get = (path: string, headers: Request['headers'] = {}): Request => ({ path, headers })
  const newStone = async () => (await created(vendor)).id
  const newStones = async () => (await createdMany(vendor, 3)).map(({ id }) => ({ id }))
  const model = modelFile('Round', 'Excellent', 0.73)
  const { id } = await created(vendor, { access: 2 })
  expect(201, await attachModel(vendor, id, model))
  const { file: modelLink } = expect(200, await vendor.get(`/v4/diamond/${id}/model`)).json() as { file: string }
  const { file: pdfLink } = await attached(vendor, id)
  const toRemove = await createdMany(vendor, 100)
  const nextToRemove = async () => toRemove.pop()?.id ?? (await newStone())
  const newWebhook = async () => {
    const { id } = shown(expect(201, await vendor.post('/v4/webhook', { url: 'https://example.com/hook' })))
    return `/v4/webhook/${id}`
  }
  const webhook = await newWebhook()
  const feed = expect(201, await vendor.post('/v4/feed', { name: 'first' })).json() as { readonly url: string }
  const waiting = `/v4/import/${(await uploaded(vendor, 'sku,Shape\nA,Round\n')).id}`
  const newSecret = () => shared(service.url, sender, { secret: 'x'.repeat(900) })
  const secret = await newSecret()
  const page = (path: string, body: string): Request => withHeaders(form(path, body), { Origin: service.url })
  const token = (path: string) => form(`/api/oauth/v2/${path}`, 'grant_type=password&token=x', basic('1', 'wrong'))
  return {
    listDiamonds: () => get('/v4/diamond?limit=100', bearer),
    exportDiamonds: () => get('/v4/diamond/export', bearer),
    summarizeExport: () => get('/v4/diamond/export/summary?format=rapnet', bearer),
    listChanges: () => get('/v4/diamond/changes', bearer),
    readDiamond: () => get(`/v4/diamond/${id}`, bearer),
    createDiamond: () => json('POST', '/v4/diamond', stone({ sku: 'x'.repeat(128) })),
    modifyDiamond: () => json('PATCH', `/v4/diamond/${id}`, { sku: 'x'.repeat(128) }),
    removeDiamond: async () => json('DELETE', `/v4/diamond/${await nextToRemove()}`, undefined),
    createDiamonds: () => json('POST', '/v4/diamond/bulk', { entries: [stone(), stone(), stone()] }),
    modifyDiamonds: async () =>
      json('PATCH', '/v4/diamond/bulk', { entries: (await newStones()).map(({ id }) => ({ id, price: 1 })) }),
    removeDiamonds: async () => json('DELETE', '/v4/diamond/bulk', { entries: await newStones() }),
    readHistory: () => get(`/v4/diamond/${id}/history`, bearer),
    readProof: () => get(`/v4/diamond/${id}/proof`, bearer),
    attachModel: () => withHeaders(modelRequest(id, model), bearer),
    readModel: () => get(`/v4/diamond/${id}/model`, bearer),
    removeModel: async () => {
      await attachModel(vendor, id, model)
      return json('DELETE', `/v4/diamond/${id}/model`, undefined)
    },
    readModelFile: () => get(pathOf(modelLink)),
    attachCertification: () => ({
      method: 'POST',
      path: '/v4/certification',
      headers: { ...bearer, ...formHeaders },
      body: formBody([text('product', id), text('laboratory', 'GIA'), file(smallPdf())]),
    }),
    removeCertification: async () => json('DELETE', `/v4/certification/${(await attached(vendor, id)).id}`, undefined),
    readCertificationFile: () => get(pathOf(pdfLink)),
    createImport: async () => {
      await removeNewImports(vendor)
      return uploadRequest(vendor, CSV)
    },
    listImports: () => get('/v4/import', bearer),
    readImport: () => get(waiting, bearer),
    modifyImport: () => json('PATCH', waiting, { by: 'sku' }),
    applyImport: () => json('POST', `${waiting}/apply`, undefined),
    undoImport: () => json('POST', `${waiting}/undo`, {}),
    removeImport: () => json('DELETE', '/v4/import/im_unknown', undefined),
    createFeed: async () => {
      await removeNewFeeds(vendor)
      return json('POST', '/v4/feed', { name: 'x'.repeat(100) })
    },
    listFeeds: () => get('/v4/feed', bearer),
    deleteFeed: () => json('DELETE', '/v4/feed/fd_unknown', undefined),
    readFeed: () => get(pathOf(feed.url)),
    listWebhooks: () => get('/v4/webhook', bearer),
    createWebhook: async () => {
      await removeNewWebhooks(vendor)
      return json('POST', '/v4/webhook', { url: 'https://example.com/hook', description: 'x'.repeat(200) })
    },
    readWebhook: () => get(webhook, bearer),
    modifyWebhook: () => json('PATCH', webhook, { description: 'changed' }),
    removeWebhook: async () => json('DELETE', await newWebhook(), undefined),
    testWebhook: () => json('POST', `${webhook}/test`, {}),
    rotateWebhookSecret: () => json('POST', `${webhook}/secret`, {}),
    listWebhookDeliveries: () => get(`${webhook}/deliveries`, bearer),
    askSecretReader: () => get(`/secret/${secret.secret_key}`),
    showSecretToReader: async () => page(`/secret/${(await newSecret()).secret_key}`, ''),
    showSecretReceipt: () => get(`/private/${secret.metadata_key}`),
    burnSecretByPage: async () => page(`/private/${(await newSecret()).metadata_key}/burn`, ''),
    readReportPage: () => get(`/diamond/${id}`),
    readWidget: () => get(`/diamond/${id}/widget`),
    readPicture: () => get(`/diamond/${id}/face-up.png`),
    readOwnersPage: () => get(`/diamond/${id}/history`),
    showInventory: () => get('/inventory'),
    logInByPage: () => page('/inventory', 'email=a@example.com&password=wrong'),
    logOutByPage: () => page('/inventory/log-out', ''),
    showExports: () => get('/inventory/export'),
    downloadExport: () => get('/inventory/export/csv'),
    showFeeds: () => get('/inventory/feeds'),
    changeFeedsByPage: () => page('/inventory/feeds', 'do=create&name=x'),
    showImports: () => get('/inventory/import'),
    uploadByPage: () => page('/inventory/import', ''),
    showImport: () => get('/inventory/import/im_1'),
    changeImportByPage: () => page('/inventory/import/im_1', 'do=apply'),
    changeStoneByPage: () => page(`/inventory/${id}`, 'do=delete'),
    showOwnStone: () => get(`/inventory/${id}`),
    readLogCheckpoint: () => get('/log/checkpoint'),
    readLogKey: () => get('/log/key'),
    readLogConsistency: () => get('/log/consistency?from=0&to=1'),
    readConstants: () => get('/v2/constants'),
    listCutShapes: () => get('/v2/cutshapes'),
    readCutShape: () => get('/v2/cutshapes/2'),
    isLive: () => get('/health/live'),
    isReady: () => get('/health/ready'),
    readMetrics: () => get('/metrics'),
    showFront: () => get('/'),
    shareSecretByPage: () => page('/share', `email=${sender.email}&token=${sender.token}&secret=x&ttl=3600`),
    readRobots: () => get('/robots.txt'),
    readIcon: () => get('/favicon.ico'),
    readSecurityContact: () => get('/.well-known/security.txt'),
    describeApi: () => get('/openapi.json'),
    showReference: () => get('/docs'),
    readReferenceFile: () => get('/docs/swagger-ui.css'),
    issueToken: () => token('token'),
    revokeToken: () => token('revoke'),
    introspectToken: () => token('introspect'),
    describeAuthorizationServer: () => get('/.well-known/oauth-authorization-server'),
    secretsStatus: () => get('/api/v1/status'),
    checkApiToken: () => get('/api/v1/authcheck', apiToken),
    shareSecret: () => form('/api/v1/share', `secret=${'x'.repeat(900)}`, sender.authorization),
    generateSecret: () => form('/api/v1/generate', '', sender.authorization),
    revealSecret: async () => form(`/api/v1/secret/${(await newSecret()).secret_key}`, ''),
    readSecretRecord: () => form(`/api/v1/private/${secret.metadata_key}`, ''),
    burnSecret: async () => form(`/api/v1/private/${(await newSecret()).metadata_key}/burn`, ''),
    listRecentSecrets: () => get('/api/v1/private/recent', apiToken),
  }
}

/** Leaves the first one: an account can have ten imports that are not applied. */
async function removeNewImports(vendor: Service['ann']): Promise<void> {
  const newer = (await vendor.get('/v4/import')).json() as { readonly id: string }[]
  for (const { id } of newer.slice(0, -1)) await vendor.remove(`/v4/import/${id}`)
}

/** Leaves the first one: an account can have ten feeds. */
async function removeNewFeeds(vendor: Service['ann']): Promise<void> {
  const feeds = (await vendor.get('/v4/feed')).json() as { readonly id: string }[]
  for (const { id } of feeds.slice(1)) await vendor.remove(`/v4/feed/${id}`)
}

const CSV = 'sku,Shape,Carat\nA-1,Round,1.2\n'

/** Leaves the first one: an account can have ten webhooks. */
async function removeNewWebhooks(vendor: Service['ann']): Promise<void> {
  const [, ...newer] = list(await vendor.get('/v4/webhook')).toSorted((one, other) => one.id - other.id)
  for (const { id } of newer) await vendor.remove(`/v4/webhook/${id}`)
}

test('never causes a 5xx, and a refusal because of it comes before any write', async ({ service }) => {
  const vendor = await service.newVendor()
  const sender = await newSender(service.installation, 'pro')
  const requests = await requestsToAllEndpoints(service, vendor, sender)
  const operations = ENDPOINTS.map(({ operationId }) => operationId)
  assert.equal(Object.keys(requests).toSorted(), operations.toSorted(), 'a request for each endpoint')
  const refusedIds = new Set<string>()
  const random = randomFor('strange headers')
  for (const operation of operations) {
    for (const [name, values] of Object.entries(STRANGE_HEADERS)) {
      for (const value of name === 'Accept-Encoding' ? values : [random.pick(values)]) {
        const id = `${operation} ${name} ${value}`.replaceAll(',', ' ').trim()
        const request = await requests[operation]?.()
        assert.ok(request)
        const { status, text: body } = await service.send(
          withHeaders(request, { [name]: value ?? '', 'X-Request-Id': id }),
        )
        // The address of the tested webhook does not exist.
        assert.ok(status < 500 || operation === 'testWebhook', `${id}: ${status} ${body.slice(0, 200)}`)
        if (status >= 400) refusedIds.add(id)
      }
    }
  }
  for await (const { metadata, type } of service.installation.store.readAll('start')) {
    const id = metadata['$correlationId'] ?? ''
    assert.not.ok(refusedIds.has(id), `${id} was refused, but appended ${type}`)
  }
})

test.run()
