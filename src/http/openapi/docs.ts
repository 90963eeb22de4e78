import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { VERSION } from '../../runtime/version.ts'
import { contentResponse } from '../kit/response.ts'
import { publicAccess, endpoint } from '../kit/endpoint.ts'
import { platformGroup } from '../kit/errors.ts'
import { html } from '../kit/html.ts'
import { definePages, pathToRoot } from '../kit/page.ts'

/** Starts Swagger UI. Replaces the server URL (BASE_URL), because the page may have been opened under another address. */
const START = `'use strict'
const base = new URL('.', location.href.split(/[?#]/)[0].replace(/\\/+$/, '')).href
const dark = matchMedia('(prefers-color-scheme: dark)')
const look = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
look()
dark.addEventListener('change', look)
// Swagger UI gives no name to the list of servers, the body and some other fields.
const nameOf = ({ id, tagName, placeholder }) =>
  placeholder || (id === 'servers' ? 'Server' : tagName === 'TEXTAREA' ? 'Request body' : 'Value')
const nameFields = () => {
  for (const field of document.querySelectorAll('#reference :is(input, select, textarea):not([aria-label])')) {
    const parameter = field.closest('[data-param-name]')
    if (field.labels.length === 0 || field.id === 'servers') field.ariaLabel = parameter ? parameter.dataset.paramName : nameOf(field)
  }
}
new MutationObserver(nameFields).observe(document.getElementById('reference'), { childList: true, subtree: true })
fetch(base + 'openapi.json')
  .then((answer) => answer.json())
  .then((spec) =>
    SwaggerUIBundle({
      spec: { ...spec, servers: [{ url: base.replace(/\\/$/, '') }] },
      dom_id: '#reference',
      deepLinking: true,
      docExpansion: 'list',
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      filter: true,
      persistAuthorization: true,
      syntaxHighlight: { activated: true },
      tryItOutEnabled: true,
      validatorUrl: null,
    }),
  )
  .catch((error) => {
    document.getElementById('reference').textContent = 'Failed to load openapi.json: ' + error.message
  })
`

export type OpenApiServices = {
  readonly openApi: {
    /** The OpenAPI document as JSON. Created by the first call, because it would add about 80 ms to every start. */
    readonly json: () => Buffer
  }
}

/** The top-level members of an OpenAPI document: https://spec.openapis.org/oas/v3.1.0 */
const DESCRIPTION = z
  .looseObject({
    openapi: z.string(),
    info: z.looseObject({ title: z.string(), version: z.string() }),
    paths: z.looseObject({}),
  })
  .meta({ id: 'Description' })

export const describeApi = endpoint({
  operationId: 'describeApi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'Retrieve the OpenAPI 3.1 document of this API',
  auth: publicAccess,
  group: platformGroup,
  headers: { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' },
  responses: { 200: { description: 'The OpenAPI document', schema: DESCRIPTION } },
  handler: (_request, { openApi: { json } }: OpenApiServices) =>
    contentResponse(200, 'application/json; charset=utf-8', json()),
})

/** Swagger UI is served from its npm package, not from a CDN. */
const PACKAGE = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

/** Reads a file of the package once. */
function packageFile(name: string): () => Promise<Buffer> {
  let content: Promise<Buffer> | undefined
  return () => (content ??= readFile(join(PACKAGE, name)))
}

const START_SCRIPT = Buffer.from(START)

const FILES = {
  'swagger-ui.css': { type: 'text/css; charset=utf-8', read: packageFile('swagger-ui.css') },
  'swagger-ui-bundle.js': { type: 'text/javascript; charset=utf-8', read: packageFile('swagger-ui-bundle.js') },
  'start.js': { type: 'text/javascript; charset=utf-8', read: async () => START_SCRIPT },
} as const

type ReferenceFileName = keyof typeof FILES
const NAMES = Object.keys(FILES) as [ReferenceFileName, ...ReferenceFileName[]]

/** With styles around Swagger UI, and for small screens, where its own styles leave a third of the width for text. */
const referencePage = definePages({
  style: `
body{background:none}
body>header,main{max-width:90rem;margin:0 auto;padding:0 1rem}
body>header{padding:.5rem 2.25rem}
main>h1,#reference>p,noscript>p{margin-inline:1.25rem}
main:has(.swagger-ui)>h1{display:none}
@media (max-width:40rem){
main{padding:0}
main>h1,#reference>p,noscript>p{margin-inline:.75rem}
body>header,.swagger-ui .wrapper{padding:0 .75rem}
.swagger-ui .opblock .opblock-summary{flex-wrap:wrap}
.swagger-ui .opblock .opblock-summary-path{max-width:100%}
.swagger-ui .opblock .opblock-summary-description{padding:.25rem 0 0}
.swagger-ui .parameters-col_name{width:auto}
.swagger-ui table.parameters tr,.swagger-ui table.parameters td{display:block}
.swagger-ui table.parameters thead{display:none}
}
`,
  // "Try it out" sends requests to the page's own origin only. Swagger UI needs inline style attributes.
  policy: {
    'script-src': "'self'",
    'style-src': "'self'",
    'style-src-attr': "'unsafe-inline'",
    'img-src': "'self' data:",
    'connect-src': "'self'",
  },
  headers: { 'Cache-Control': 'public, no-cache' },
})

export const showReference = endpoint({
  operationId: 'showReference',
  method: 'GET',
  path: '/docs',
  summary: 'Show the interactive API reference',
  auth: publicAccess,
  group: platformGroup,
  isBrowserOnly: true,
  responses: { 200: { description: 'The page', mediaType: 'text/html' } },
  handler({ originalUrl }) {
    const home = pathToRoot(originalUrl)
    const head = html`<link rel="stylesheet" href="${home}docs/swagger-ui.css" />
      <script src="${home}docs/swagger-ui-bundle.js" defer></script>
      <script src="${home}docs/start.js" defer></script>`
    return referencePage({ status: 200, title: 'Adamant API', home, head, content: referenceAt(`${home}openapi.json`) })
  },
})

const referenceAt = (document: string) =>
  html`<div id="reference">
    <p>Loading the API reference from <a href="${document}">openapi.json</a>.</p>
    <noscript
      ><p>This page needs JavaScript; without it, use <a href="${document}">openapi.json</a>.</p></noscript
    >
  </div>`

const MEDIA = ['text/css', 'text/javascript']

const ETAG = `"${VERSION}"`

export const readReferenceFile = endpoint({
  operationId: 'readReferenceFile',
  method: 'GET',
  path: '/docs/{file}',
  summary: 'Retrieve a style sheet or script of the API reference',
  auth: publicAccess,
  pathParameters: { file: z.enum(NAMES).describe('The name of the file.') },
  group: platformGroup,
  isBrowserOnly: true,
  headers: { 'Cache-Control': 'public, max-age=3600' },
  responses: {
    200: { description: 'The file', mediaType: MEDIA, headers: { ETag: 'Changes with the release' } },
    304: 'Not modified: the ETag in If-None-Match is current',
  },
  handler({ params }) {
    const { type, read } = FILES[params.file as ReferenceFileName]
    return contentResponse(200, type, read, { ETag: ETAG })
  },
})
