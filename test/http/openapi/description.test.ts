import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { constants } from '../../../src/domain/dictionaries/constants.ts'
import { findCutShape, cutShapeTree } from '../../../src/domain/dictionaries/shapes.ts'
import { fieldsOf, memberNameOf, PROPORTION_FIELDS } from '../../../src/domain/diamond/fields.ts'
import { ENDPOINTS } from '../../../src/http/endpoints.ts'
import { CONSTANTS, CUT_SHAPE_DETAIL, CUT_SHAPE_TREE } from '../../../src/http/constants/constants.ts'
import { createOpenApiDocument } from '../../../src/http/openapi/description.ts'
import { isApiEndpoint, schemaFor, TAGS } from '../../../src/http/openapi/operation.ts'
import { routeFinder } from '../route-finder.ts'

type Parameter = { readonly name: string; readonly in: string; readonly description?: string }
type Response = { readonly description: string; readonly content?: object }
type Json = Readonly<Record<string, unknown>>
type ParsedDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
}
type Operation = {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: object }>> }
  readonly responses: Readonly<Record<string, Response>>
}

const created = createOpenApiDocument(ENDPOINTS, { baseUrl: 'https://api.example.com', version: '1.2.3' })
// A client gets it as JSON.
const document = JSON.parse(JSON.stringify(created)) as ParsedDocument
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method,
    operation: operation as unknown as Operation,
  })),
)

const test = suite('the OpenAPI document')

test('has an example of every body besides forms with a file, and the endpoint accepts it', () => {
  const findRoute = routeFinder(ENDPOINTS)
  const lacking: string[] = []
  for (const { path, method, operation } of operations) {
    for (const [mediaType, { example }] of Object.entries(operation.requestBody?.content ?? {})) {
      const name = `${method} ${path} ${mediaType}`
      if (mediaType === 'multipart/form-data') continue
      const { endpoint, version } = findRoute(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, '1')) ?? {}
      if (endpoint === undefined || !isApiEndpoint(endpoint)) continue
      const parsed = endpoint.body?.schema && schemaFor(endpoint.body.schema, version).safeParse(example)
      if (parsed?.success !== true || Object.keys(example ?? {}).length === 0) lacking.push(name)
    }
  }
  assert.equal(lacking, [])
})

test('names no limit of an integer that only JSON has', () => {
  assert.not.match(JSON.stringify(document), `${Number.MIN_SAFE_INTEGER}`)
})

test('uses only declared tags', () => {
  const strange = operations.filter(({ operation }) =>
    operation.tags.some((tag) => !TAGS.some(({ name }) => name === tag)),
  )
  assert.equal(
    strange.map(({ operation }) => operation.operationId),
    [],
  )
})

test('has exactly the paths and methods of the endpoints', () => {
  const findRoute = routeFinder(ENDPOINTS)
  for (const { path, method } of operations) {
    assert.ok(findRoute(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, '1')), `${method} ${path}`)
  }
  const described = new Set(operations.map(({ operation }) => operation.operationId.toLowerCase()))
  for (const { operationId } of ENDPOINTS) {
    assert.ok(
      [...described].some((id) => id.startsWith(operationId.toLowerCase())),
      `${operationId} is not described`,
    )
  }
  for (const path of ['/v3/diamond/{id}', '/v4/diamond/bulk', '/api/oauth/v2/token', '/api/v1/create', '/v2/constants'])
    assert.ok(path in document.paths, path)
})

test('gives each operation a unique id', () => {
  const names = operations.map(({ operation }) => operation.operationId)
  assert.is(new Set(names).size, names.length)
  for (const name of names) assert.match(name, /^[a-z][A-Za-z0-9]+$/)
})

test('gives operations the expected ids', () => {
  const idOf = (method: string, path: string) =>
    (document.paths[path]?.[method] as (Operation & { readonly deprecated?: boolean }) | undefined)?.operationId
  for (const [method, path, name] of [
    ['get', '/v4/diamond', 'listDiamonds'],
    ['get', '/v3/diamond', 'listDiamondsV3'],
    ['patch', '/v4/diamond/{id}', 'modifyDiamondByPatch'],
    ['post', '/api/v1/share', 'shareSecret'],
    ['post', '/api/v1/create', 'shareSecretAtCreate'],
    ['get', '/api/v1/metadata/recent', 'listRecentSecretsAtMetadata'],
  ] as const)
    assert.is(idOf(method, path), name)
})

test('marks alternative paths as deprecated', () => {
  const deprecated = (method: string, path: string) => document.paths[path]?.[method]?.['deprecated'] === true
  assert.ok(deprecated('post', '/api/v1/create'))
  assert.ok(deprecated('get', '/api/v1/metadata/{key}'))
  assert.not.ok(deprecated('post', '/api/v1/share'))
  assert.not.ok(deprecated('get', '/v3/diamond'))
})

test('declares each path parameter and describes each parameter', () => {
  for (const { path, operation } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const declared = operation.parameters.filter((one) => one.in === 'path').map(({ name }) => name)
    assert.equal(declared.toSorted(), inPath.toSorted(), path)
    for (const { name, description } of operation.parameters)
      assert.type(description, 'string', `${operation.operationId} has no description for ${name}`)
  }
})

test('describes each response, with a body for errors', () => {
  for (const { operation } of operations) {
    assert.ok(Object.keys(operation.responses).length > 2, operation.operationId)
    for (const [status, response] of Object.entries(operation.responses)) {
      const what = `${operation.operationId}, ${status}`
      assert.ok(response.description.length > 3, what)
      if (Number(status) >= 400) assert.ok(response.content, `${what} has no body`)
    }
  }
})

test('refers only to existing components', () => {
  const text = JSON.stringify(document)
  const referred = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference)
  assert.ok(referred.length > 50)
  for (const reference of new Set(referred)) {
    assert.ok(reference.startsWith('#/components/schemas/'), reference)
    assert.ok(reference.slice('#/components/schemas/'.length) in document.components.schemas, reference)
  }
  assert.not.match(text, /"\$schema"|"\$defs"/)
})

test('has each enum once, as a named component', () => {
  const paths = JSON.stringify(document.paths)
  assert.not.match(paths, /"enum":/)
  const enums = Object.values(document.components.schemas).filter((schema) => 'enum' in schema)
  const values = enums.map((schema) => JSON.stringify(schema['enum']))
  assert.ok(values.length > 20)
  assert.is(new Set(values).size, values.length)
  const nested = Object.entries(document.components.schemas).filter(([, schema]) =>
    JSON.stringify({ ...schema, enum: undefined }).includes('"enum":'),
  )
  assert.equal(
    nested.map(([name]) => name),
    [],
  )
})

test('has an example for each field of a diamond and of a certification', () => {
  const { schemas } = document.components
  // A v3 id has examples in its type; a nullable field has them in its other type.
  const isExemplified = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null) return false
    const { examples, anyOf = [], $ref = '' } = value as { examples?: unknown; anyOf?: unknown[]; $ref?: string }
    return examples !== undefined || anyOf.some(isExemplified) || isExemplified(schemas[$ref.replace(/^.*\//, '')])
  }
  const without = (name: string, fields: readonly string[]) => {
    const { properties } = schemas[name] as { readonly properties: Json }
    return fields.filter((field) => !isExemplified(properties[field]))
  }
  for (const version of ['v3', 'v4'] as const)
    for (const body of ['NewDiamond', 'DiamondChanges', 'Diamond'])
      assert.equal(
        without(
          `${body}.${version}`,
          fieldsOf(version).filter((name) => !name.includes('.')),
        ),
        [],
        body,
      )
  for (const body of ['Proportions', 'ProportionChanges'])
    assert.equal(without(body, PROPORTION_FIELDS.map(memberNameOf)), [], body)
  const { properties } = schemas['NewCertification'] as { readonly properties: Readonly<Record<string, Json>> }
  for (const name of ['product', 'laboratory', 'number']) assert.ok(properties[name]?.['examples'], name)
})

test('shows the differences between the two versions', () => {
  const { schemas } = document.components
  const propertiesOf = (name: string) => Object.keys((schemas[name] as { readonly properties: object }).properties)
  assert.ok(propertiesOf('Diamond.v4').includes('certifications'))
  assert.not.ok(propertiesOf('Diamond.v3').includes('certifications'))
})

test('has schemas that match the constants and the cut shapes', () => {
  CONSTANTS.parse(constants('1.2.3'))
  CUT_SHAPE_TREE.parse(cutShapeTree())
  for (const { id, children } of cutShapeTree())
    for (const one of [id, ...children.map((child) => child.id)]) CUT_SHAPE_DETAIL.parse(findCutShape(one))
  type Json = { readonly 'application/json'?: { readonly schema?: object } }
  const schemaOf = (path: string) => {
    const found = operations.find((one) => one.path === path && one.method === 'get')
    const content = found?.operation.responses['200']?.content as Json | undefined
    return content?.['application/json']?.schema
  }
  for (const path of ['/v2/constants', '/v2/cutshapes', '/v2/cutshapes/{id}', '/openapi.json'])
    assert.ok(schemaOf(path), path)
})

test('declares the authentication of each endpoint', () => {
  assert.equal(document.paths['/v4/diamond']?.['get']?.['security'], [{ bearer: [] }])
  assert.equal(document.paths['/v2/constants']?.['get']?.['security'], [])
})

test.run()
