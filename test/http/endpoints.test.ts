import * as assert from 'uvu/assert'
import { ENDPOINTS } from '../../src/http/endpoints.ts'
import type { Endpoint } from '../../src/http/kit/endpoint.ts'
import { declaredStatuses } from '../../src/http/openapi/operation.ts'
import { sendRaw } from '../api/harness/raw.ts'
import type { Request } from '../api/harness/request.ts'
import { cookieOf, newPerson } from '../api/inventory-page/browser.ts'
import { newSender } from '../api/harness/secrets.ts'
import { apiSuite, type Service } from '../api/harness/service.ts'

const test = apiSuite('the endpoint')

type AnyEndpoint = Endpoint<never>

/** Well-formed values for parameters that are not enums; nothing with these values exists. */
const UNKNOWN_VALUES: Readonly<Record<string, string>> = { id: '999999999', key: '0'.repeat(50) }

function pathOf({ paths: [first = ''], pathParameters }: AnyEndpoint): string {
  return first.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => {
    const schema = pathParameters[name]
    const options: unknown = schema !== undefined && 'options' in schema ? schema.options : undefined
    return Array.isArray(options) ? String(options[0]) : (UNKNOWN_VALUES[name] ?? 'unknown')
  })
}

const requestTo = (endpoint: AnyEndpoint, method = endpoint.methods[0]): Request => ({
  ...(method !== undefined && { method }),
  path: pathOf(endpoint),
})

/** Valid credentials for the endpoint, except for the token server, which has its own tests. */
async function credentials(service: Service, { auth }: AnyEndpoint): Promise<Record<string, string>> {
  if (auth.scheme === 'bearer') return { Authorization: `Bearer ${service.ann.token}` }
  if (auth.scheme === 'cookie') return { Cookie: await cookieOf(service, await newPerson(service)) }
  if (auth.scheme === 'api-token') return { Authorization: (await newSender(service.installation)).authorization }
  // An unregistered client, in the header that gets a challenge.
  return auth.scheme === 'oauth-client' ? { Authorization: 'Basic eDp5' } : {}
}

/** A media type of the endpoint's body whose limit is the declared one. */
function mediaTypeOf({ mediaTypes }: NonNullable<AnyEndpoint['body']>): string {
  const type = mediaTypes.find((one) => one.startsWith('multipart/')) ?? mediaTypes.find((one) => one !== '') ?? ''
  return type.startsWith('multipart/') ? `${type}; boundary=b` : type
}

for (const endpoint of ENDPOINTS as readonly AnyEndpoint[]) {
  const { operationId, methods, body, auth } = endpoint
  const path = pathOf(endpoint)

  test(`${operationId} lists its methods for OPTIONS and answers others with 405 and the same list`, async ({
    service,
  }) => {
    const options = await service.send({ method: 'OPTIONS', path })
    const allow = String(options.headers.allow).split(', ')
    assert.equal([options.status, options.text], [204, ''])
    for (const method of methods) assert.ok(allow.includes(method), `${method} of ${allow.join()}`)
    assert.is(allow.includes('HEAD'), allow.includes('GET'))
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].filter((one) => !allow.includes(one))) {
      const refused = await service.send({ method, path })
      assert.equal([refused.status, refused.headers.allow], [405, options.headers.allow], method)
    }
  })

  test(`${operationId} answers 404 for paths below it`, async ({ service }) => {
    assert.is((await service.send({ path: `${path}/nothing/there` })).status, 404)
  })

  if (methods.includes('GET')) {
    test(`${operationId} answers HEAD like GET, without a body`, async ({ service }) => {
      const headers = await credentials(service, endpoint)
      const [got, head] = [await service.send({ path, headers }), await service.send({ method: 'HEAD', path, headers })]
      assert.equal([head.status, head.text], [got.status, ''])
      assert.is(head.headers['content-type'], got.headers['content-type'])
    })
  }

  test(`${operationId} answers with a declared status`, async ({ service }) => {
    const headers = await credentials(service, endpoint)
    for (const method of methods) {
      const { status } = await service.send({ ...requestTo(endpoint, method), headers })
      assert.ok(declaredStatuses(endpoint).has(status), `${method} ${path} is ${status}`)
    }
  })

  if (auth.scheme === 'bearer' || auth.scheme === 'api-token') {
    test(`${operationId} rejects a request without credentials with a challenge`, async ({ service }) => {
      for (const method of methods) {
        const { status, headers } = await service.send(requestTo(endpoint, method))
        assert.is(status, 401)
        assert.match(String(headers['www-authenticate']), auth.scheme === 'bearer' ? /^Bearer / : /^Basic /)
      }
    })
  }

  if (body !== undefined) {
    test(`${operationId} rejects a body over its limit before receiving it`, async ({ service }) => {
      const headers = { Host: 'a', 'Content-Type': mediaTypeOf(body), ...(await credentials(service, endpoint)) }
      const lines = Object.entries({ ...headers, 'Content-Length': body.maxBytes + 1 }).map((pair) => pair.join(': '))
      const method = methods.find((one) => one !== 'GET') ?? ''
      const bytes = [`${method} ${path} HTTP/1.1`, ...lines, 'Connection: close', '', ''].join('\r\n')
      const { text } = await sendRaw(service.url, bytes)
      const status = auth.scheme === 'oauth-client' ? 400 : 413
      assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `))
    })

    test(`${operationId} rejects another media type, and names those that it reads`, async ({ service }) => {
      const method = methods.find((one) => one !== 'GET') ?? ''
      const headers = { 'Content-Type': 'application/json-patch+json', ...(await credentials(service, endpoint)) }
      const { status, text } = await service.send({ method, path, headers, body: '[]' })
      assert.is(status, auth.scheme === 'oauth-client' ? 400 : 415)
      for (const mediaType of body.mediaTypes) assert.ok(text.includes(mediaType), `${mediaType} in ${text}`)
    })
  }
}

test('that modifies by PATCH names the formats of a patch with 415', async ({ service }) => {
  const headers = { 'Content-Type': 'application/json-patch+json', Authorization: `Bearer ${service.ann.token}` }
  for (const { paths } of ENDPOINTS.filter(({ methods: all }) => all.includes('PATCH'))) {
    const path = String(paths[0]).replace('{version}', 'v4').replace('{id}', '1')
    const { status, headers: got } = await service.send({ method: 'PATCH', path, headers, body: '[]' })
    assert.equal([status, got['accept-patch']], [415, 'application/json, application/merge-patch+json'], path)
  }
})

test.run()
