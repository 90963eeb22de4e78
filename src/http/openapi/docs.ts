import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { answer, bytes } from '../kit/answer.ts'
import { anybody, endpoint } from '../kit/endpoint.ts'
import { platform } from '../kit/errors.ts'
import { html, htmlDocument, sourceHash, upFrom } from '../kit/html.ts'
import { VERSION } from '../../runtime/version.ts'
import { START, STYLE } from './docs-page.ts'

/** The reference page is Swagger UI, as its package has it: nothing is fetched from elsewhere. */
const PACKAGE = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

const FILES = {
  'swagger-ui.css': { type: 'text/css; charset=utf-8', read: () => readFile(join(PACKAGE, 'swagger-ui.css')) },
  'swagger-ui-bundle.js': {
    type: 'text/javascript; charset=utf-8',
    read: () => readFile(join(PACKAGE, 'swagger-ui-bundle.js')),
  },
  'start.js': { type: 'text/javascript; charset=utf-8', read: async () => Buffer.from(START) },
} as const

type Name = keyof typeof FILES
const NAMES = Object.keys(FILES) as [Name, ...Name[]]

/** Requests that are tried out go to where the page came from. Swagger UI sets styles of single elements. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' ${sourceHash(STYLE)}`,
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const showReference = endpoint({
  name: 'showReference',
  method: 'GET',
  path: '/docs',
  about: 'The reference of this API for people, to read and to try out.',
  who: anybody,
  family: platform,
  forBrowsers: true,
  answers: { 200: { about: 'The page', media: 'text/html' } },
  run({ target }) {
    const at = `${upFrom(target)}docs`
    const head = html`<link rel="stylesheet" href="${at}/swagger-ui.css" />
      <script src="${at}/swagger-ui-bundle.js" defer></script>
      <script src="${at}/start.js" defer></script>`
    const body = `${PAGE.html}\n`
    return answer(200, htmlDocument({ title: 'Adamant API', head, style: STYLE, body }), {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': POLICY,
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'public, no-cache',
    })
  },
})

const PAGE = html`<main id="reference">
  <p>The reference is being drawn from <a href="openapi.json">openapi.json</a>, which programs read.</p>
  <noscript
    ><p>Without scripts, read <a href="openapi.json">openapi.json</a> itself.</p></noscript
  >
</main>`

const MEDIA = ['text/css', 'text/javascript']

const ETAG = `"${VERSION}"`

export const readReferenceFile = endpoint({
  name: 'readReferenceFile',
  method: 'GET',
  path: '/docs/{file}',
  about: 'What the reference page is made of.',
  who: anybody,
  parameters: { file: z.enum(NAMES).describe('A style or a script.') },
  family: platform,
  forBrowsers: true,
  headers: { 'Cache-Control': 'public, max-age=3600' },
  answers: {
    200: { about: 'The file', media: MEDIA, headers: { ETag: 'The same until the next release' } },
    304: "The caller's copy, named by If-None-Match, is still the one there is",
  },
  run({ params }) {
    const { type, read } = FILES[params.file as Name]
    return bytes(200, type, read, { ETag: ETAG })
  },
})
