// A vendor's program on the types that openapi-typescript makes of /openapi.json: it creates a diamond, lists, changes it
// and shares a secret, and prints what it was told.
import createClient from 'openapi-fetch'
import type { components, paths } from './api.d.ts'

const { ADDRESS = '', TOKEN = '', EMAIL = '', API_TOKEN = '' } = process.env
const inventory = createClient<paths>({ baseUrl: ADDRESS, headers: { Authorization: `Bearer ${TOKEN}` } })
const credentials = Buffer.from(`${EMAIL}:${API_TOKEN}`).toString('base64')
const secrets = createClient<paths>({ baseUrl: ADDRESS, headers: { Authorization: `Basic ${credentials}` } })

const refused = (error: components['schemas']['Error' | 'SecretsError'] | undefined) => new Error(JSON.stringify(error))

const color: components['schemas']['Color'] = 'F'
const created = await inventory.POST('/v4/diamond', {
  body: { sku: 'TS-1', cutShape: 'Round', carat: 1.01, color, clarity: 'VS1', polish: 'Excellent' },
})
if (created.data === undefined) throw refused(created.error)
const { id, sku } = created.data

const listed = await inventory.GET('/v4/diamond', { params: { query: { 'f[sku][]': [sku], sort: '-carat' } } })
if (listed.data === undefined) throw refused(listed.error)

const params = { path: { id }, header: { 'If-Match': created.response.headers.get('ETag') ?? '' } }
const changed = await inventory.PATCH('/v4/diamond/{id}', { params, body: { price: 5400, symmetry: 'Very Good' } })
if (changed.error !== undefined) throw refused(changed.error)
const read = await inventory.GET('/v4/diamond/{id}', { params: { path: { id } } })
if (read.data === undefined) throw refused(read.error)

const shared = await secrets.POST('/api/v1/share', { body: { secret: 'the door opens with 4711' } })
if (shared.data === undefined) throw refused(shared.error)
const path = { key: shared.data.secret_key ?? '' }
const opened = await secrets.POST('/api/v1/secret/{key}', { params: { path } })
if (opened.data === undefined) throw refused(opened.error)

console.log(
  JSON.stringify({
    listed: listed.data.map((stone) => stone.sku),
    price: read.data.price,
    color: read.data.color,
    symmetry: read.data.symmetry,
    state: shared.data.state,
    value: opened.data.value,
  }),
)
