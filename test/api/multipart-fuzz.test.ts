import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { registerClient } from '../../src/commands/clients/clients.ts'
import { IdAllocator } from '../../src/commands/installation/id-allocator.ts'
import * as fc from '../fast-check.ts'
import { file, formBody, formHeaders, text, type Part, type ShownCertification } from './harness/form.ts'
import { modelFile } from './harness/models.ts'
import type { ApiResponse } from './harness/request.ts'
import { basic, newSender, reveal, type Shown } from './harness/secrets.ts'
import { startService, GENEROUS_TIMEOUT_MS, type Service } from './harness/service.ts'
import { created } from './harness/stones.ts'
import { newPerson } from './inventory-page/browser.ts'

const RUNS = process.env['ADAMANT_FULL'] === '1' ? 2_000 : 200

type Given = { service: Service }
const test = suite<Given>('an arbitrary multipart form')
test.before(async (given) => {
  // Each request has its own address, so that limits of wrong passwords do not apply.
  const settings = { RATE_LIMIT: '0', TRUST_PROXY: '1' }
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, settings })
})
test.after(({ service }) => service.stop())

const [, BOUNDARY = ''] = formHeaders['Content-Type'].split('boundary=')

/** A part as this test finds it in a body, without the parser of the service. */
type FoundPart = { readonly name: string | undefined; readonly content: string }

/** Lines that begin with the boundary. */
const BOUNDARY_LINE = new RegExp(`(?:^|\r?\n)--${BOUNDARY}`)

/** The parts between the boundaries of a body. The last boundary must be followed by `--`. */
function partsIn(body: string): FoundPart[] {
  const [, ...sections] = body.split(BOUNDARY_LINE)
  assert.match(sections.pop() ?? '', /^--/, 'the last boundary ends the form')
  return sections.map((section) => {
    const [head = '', ...rest] = section.split('\r\n\r\n')
    const [, quoted, plain] = /(?<![\w*])name\*?\s*=\s*(?:"([^"]*)"|(?:UTF-8'')?([^\s;"]+))/i.exec(head) ?? []
    return { name: quoted ?? plain, content: rest.join('\r\n\r\n') }
  })
}

type Route = {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** A valid form. */
  readonly parts: readonly Part[]
  /** Asserts that an accepted form had exactly these parts. */
  readonly check: (parts: readonly FoundPart[], response: ApiResponse) => Promise<void> | void
}

const lastOf = (parts: readonly FoundPart[], name: string) =>
  parts.findLast((part) => part.name === name)?.content ?? ''
const namesOf = (parts: readonly FoundPart[]) => parts.map(({ name }) => name)

function expectNames(parts: readonly FoundPart[], names: readonly string[]): void {
  for (const name of names) assert.ok(namesOf(parts).includes(name), `accepted without ${name}`)
}

const ROUTES: Readonly<Record<string, (service: Service) => Promise<Route>>> = {
  async share({ installation, url }) {
    const { authorization } = await newSender(installation)
    return {
      path: '/api/v1/share',
      headers: { Authorization: authorization },
      parts: [text('secret', 'a\r\nb'), text('passphrase', 'open sesame'), text('ttl', 3600)],
      async check(parts, response) {
        const shown = response.json() as Shown
        const passphrase = lastOf(parts, 'passphrase')
        assert.is(shown['passphrase_required'], passphrase !== '')
        if (lastOf(parts, 'ttl') === '3600') assert.is(shown['ttl'], 3600)
        const revealed = await reveal(url, shown.secret_key, Buffer.from(passphrase, 'latin1').toString())
        assert.is((revealed.json() as Shown).value, Buffer.from(lastOf(parts, 'secret'), 'latin1').toString())
      },
    }
  },
  async 'token server'(service) {
    const { email, password } = await newPerson(service)
    const { context } = service.installation
    const origin = { actor: 'operator', via: 'cli', correlation: 'test' } as const
    const clientIds = new IdAllocator({ ...context, kind: 'client', size: 1, origin })
    const { client, secret } = await registerClient({ ...context, clientIds }, 'forms', origin)
    return {
      path: '/api/oauth/v2/token',
      headers: { Authorization: basic(client, secret) },
      parts: [text('grant_type', 'password'), text('username', email), text('password', password)],
      check: (parts) => expectNames(parts, ['grant_type', 'username', 'password']),
    }
  },
  async 'log-in form'(service) {
    const { email, password } = await newPerson(service)
    return {
      path: '/inventory',
      headers: { 'Sec-Fetch-Site': 'same-origin' },
      parts: [text('email', email), text('password', password)],
      check: (parts) => expectNames(parts, ['email', 'password']),
    }
  },
  async certification({ ann }) {
    const { id } = await created(ann)
    return {
      path: '/v4/certification',
      headers: { Authorization: `Bearer ${ann.token}` },
      parts: [text('product', id), text('laboratory', 'GIA'), text('number', '33'), file('%PDF-1.4\r\n%%EOF\r\n')],
      check(parts, response) {
        const { number, file } = response.json() as ShownCertification
        const known = ['product', 'laboratory', 'number', 'file']
        assert.equal(
          namesOf(parts).filter((name) => !known.includes(name ?? '')),
          [],
        )
        expectNames(parts, ['product', 'laboratory'])
        assert.is(number ?? '', lastOf(parts, 'number').trim())
        assert.is(file !== null, lastOf(parts, 'file') !== '')
      },
    }
  },
  async model({ ann }) {
    const { id } = await created(ann)
    return {
      path: `/v4/diamond/${id}/model`,
      headers: { Authorization: `Bearer ${ann.token}` },
      parts: [file(modelFile('Round', 'Good', 1), 'stone.off')],
      check: (parts) => assert.equal(namesOf(parts), ['file']),
    }
  },
}

const PIECES = [
  `\r\n--${BOUNDARY}\r\n`,
  `\r\n--${BOUNDARY}--\r\n`,
  `--${BOUNDARY}`,
  `\n--${BOUNDARY}\r\n`,
  'Content-Disposition: form-data; name="',
  '\r\nContent-Disposition: form-data; name="passphrase"\r\n\r\n',
  'Content-Transfer-Encoding: base64\r\n',
  '; filename="x"',
  '; name="a"',
  '\r\n\r\n',
  '\r\n',
  ...'\r\n;:="\'\\*- \t\0\xff',
]

const piece = fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 3 }))

/** A fraction of a length. Unlike `double`, it is distributed evenly. */
const fraction = fc.nat(9_999).map((number) => number / 10_000)

/** Replaces a few bytes, half of the time at punctuation. */
const mutation = fc.record({
  position: fraction,
  atMark: fc.boolean(),
  removed: fc.oneof(fc.constantFrom(0, 1, 2), fc.nat(60)),
  inserted: piece,
})

function mutate(
  body: string,
  { position, atMark, removed, inserted }: typeof mutation extends fc.Arbitrary<infer Value> ? Value : never,
) {
  const marks = [...body.matchAll(/[\r\n;:="-]/g)].map(({ index }) => index)
  const at = (atMark ? marks[Math.floor(position * marks.length)] : undefined) ?? Math.floor(position * body.length)
  return body.slice(0, at) + inserted + body.slice(at + removed)
}

const bodiesLike = (parts: readonly Part[]): fc.Arbitrary<string> => {
  const valid = formBody(parts).toString('latin1')
  return fc.oneof(
    { weight: 4, arbitrary: fc.array(mutation, { maxLength: 3 }).map((all) => all.reduce(mutate, valid)) },
    { weight: 1, arbitrary: fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')) },
  )
}

/** Where the body is split into chunks. */
const cuts = fc.array(fraction, { maxLength: 3 })

function split(body: Buffer, positions: readonly number[]): Buffer[] {
  const ends = [...positions.map((position) => Math.floor(position * body.length)), body.length].toSorted(
    (a, b) => a - b,
  )
  return ends
    .map((end, index) => body.subarray(index === 0 ? 0 : ends[index - 1], end))
    .filter(({ length }) => length > 0)
}

/** The streams with the data of accounts that were written after a position. */
async function streamsAfter({ installation: { store } }: Service, position: Awaited<ReturnType<typeof store.head>>) {
  const streams: string[] = []
  for await (const { stream } of store.readAll(position)) streams.push(stream)
  return streams.filter((stream) => /^(?:diamond|request|secret|session)-/.test(stream))
}

for (const [name, open] of Object.entries(ROUTES)) {
  test(`to the ${name} is rejected, or all of its parts are read`, async ({ service }) => {
    const { path, headers, parts, check } = await open(service)
    const { store } = service.installation
    let accepted = 0
    let address = 0
    await fc.assert(
      fc.asyncProperty(bodiesLike(parts), cuts, async (body, positions) => {
        const before = await store.head()
        const response = await service.send({
          method: 'POST',
          path,
          headers: {
            ...formHeaders,
            ...headers,
            'X-Forwarded-For': `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address++ & 255}`,
          },
          body: split(Buffer.from(body, 'latin1'), positions),
        })
        assert.ok(response.status < 500, `${response.status} ${response.text}`)
        if (response.status >= 400) assert.equal(await streamsAfter(service, before), [])
        else {
          await check(partsIn(body), response)
          accepted += 1
        }
      }),
      { numRuns: RUNS },
    )
    assert.ok(accepted > RUNS / 50, `only ${accepted} of ${RUNS} forms were accepted`)
  })
}

test.run()
