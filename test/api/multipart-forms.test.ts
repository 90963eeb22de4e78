import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { certification, pathOf } from './harness/form.ts'
import { expect, refusal, type ApiResponse, type Request } from './harness/request.ts'
import { expectError, newSender, reveal, shownIn, type Sender } from './harness/secrets.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from './harness/service.ts'
import { created } from './harness/stones.ts'
import { filesOf } from './harness/stored-files.ts'

type Given = { service: Service; sender: Sender; diamond: number }
const test = suite<Given>('a multipart form')
test.before(async (given) => {
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
  given.sender = await newSender(given.service.installation)
  given.diamond = (await created(given.service.ann)).id
})
test.after(({ service }) => service.stop())

const BOUNDARY = 'B'
const HEADERS = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` }
const END = `--${BOUNDARY}--\r\n`

/** A part with these headers; without a colon they are the parameters of a Content-Disposition. */
const part = (headers: string, content: string): string =>
  `--${BOUNDARY}\r\n${headers.includes(': ') ? headers : `Content-Disposition: form-data; ${headers}`}\r\n\r\n${content}\r\n`

const SECRET = part('name="secret"', 's3cret')
const PASSPHRASE = part('name="passphrase"', 'open sesame')

const share = ({ service, sender }: Given, body: string, headers: Request['headers'] = HEADERS) =>
  service.send({
    method: 'POST',
    path: '/api/v1/share',
    headers: { ...headers, Authorization: sender.authorization },
    body: Buffer.from(body, 'latin1'),
  })

/** Expects that the form shared a secret with the passphrase. */
async function expectBothRead(given: Given, response: ApiResponse): Promise<void> {
  const { secret_key, passphrase_required } = shownIn(response)
  assert.is(passphrase_required, true)
  assert.is(shownIn(await reveal(given.service.url, secret_key, 'open sesame')).value, 's3cret')
}

for (const headers of [
  'name="passphrase";',
  'name="passphrase" ; ',
  'name="passphrase";;',
  'name = "passphrase"',
  'name=passphrase',
  "name*=UTF-8''pass%70hrase",
  'name="passphrase"; filename="a"b"',
  'filename="a; name=b"; name="passphrase"',
  'filename=""; name="passphrase"',
  'Content-Disposition: text; name="passphrase"',
  'Content-Disposition: attachment; name="passphrase"',
  'CONTENT-DISPOSITION : FORM-DATA;NAME="passphrase"',
  'Content-Disposition: form-data;\r\n\tname="passphrase"',
  'X-Part: 2\r\nContent-Disposition: form-data; name="passphrase"\r\nContent-Length: 11',
  'Content-Type: application/octet-stream\r\nContent-Disposition: form-data; name="passphrase"',
]) {
  test(`with the headers ${JSON.stringify(headers)} reads the part as clients mean it`, async (given) => {
    await expectBothRead(given, await share(given, SECRET + part(headers, 'open sesame') + END))
  })
}

const WITH_BOTH: Readonly<Record<string, string>> = {
  'text before and after its parts': `In MIME format\r\n${SECRET}${PASSPHRASE}${END}the end\0`,
  'blanks after a boundary': SECRET + PASSPHRASE.replace('\r\n', ' \t\r\n') + END,
  'a part without content, whose empty line belongs to the next boundary':
    part('name="ttl"', '').slice(0, -2) + SECRET + PASSPHRASE + END,
  'a hundred parts': SECRET + part('name="other"', 'x').repeat(98) + PASSPHRASE + END,
  'a thousand headers in a part': SECRET + PASSPHRASE.replace('Content-', `${'X: y\r\n'.repeat(1_000)}Content-`) + END,
}

for (const [name, body] of Object.entries(WITH_BOTH)) {
  test(`with ${name} is read`, async (given) => expectBothRead(given, await share(given, body)))
}

test('may declare its boundary with a trailing semicolon, or unquoted with special characters', async (given) => {
  for (const boundary of ['B;', '"B" ;', 'B; charset=utf-8', '=_B:1']) {
    const body = (SECRET + PASSPHRASE + END).replaceAll('--B', boundary === '=_B:1' ? '--=_B:1' : '--B')
    const headers = { 'Content-Type': `multipart/form-data; boundary=${boundary}` }
    await expectBothRead(given, await share(given, body, headers))
  }
})

test('is decoded by the charset of the part, or that of the part _charset_', async (given) => {
  for (const body of [
    part('Content-Disposition: form-data; name="secret"\r\nContent-Type: text/plain; charset="ISO-8859-1"', '\xe9'),
    part('name="secret"', '\xe9') + part('name="_charset_"', 'iso-8859-1'),
    part('name="secret"', '\xc3\xa9') + part('name="_charset_"', ''),
    part('name="secret"', '\xc3\xa9'),
  ]) {
    const { secret_key } = shownIn(await share(given, body + END))
    assert.is(shownIn(await reveal(given.service.url, secret_key)).value, 'é')
  }
})

/** The streams of events that a request has stored. */
async function streamsAfter({ service }: Given, run: () => Promise<unknown>): Promise<string[]> {
  const { store } = service.installation
  const before = await store.head()
  await run()
  const streams: string[] = []
  for await (const { stream } of store.readAll(before)) streams.push(stream)
  return streams.filter((stream) => /^(?:diamond|request|secret|session)-/.test(stream))
}

const PART_2 = 'Part 2 of the form cannot be read: '

const UNREADABLE_HEADERS: readonly (readonly [headers: string, reason: string])[] = [
  ['name="passphrase', 'name in its Content-Disposition must be in double quotes'],
  ["name='passphrase'", 'name in its Content-Disposition must be in double quotes'],
  ['name="passphrase" filename="a"', 'name in its Content-Disposition must be in double quotes'],
  ['name="passphrase; filename="a"', 'name in its Content-Disposition must be in double quotes'],
  ['name="passphrase"; filename="a', 'filename in its Content-Disposition must be in double quotes'],
  ['filename="a; name="passphrase"', 'its Content-Disposition has no name'],
  ['passphrase', 'its Content-Disposition is malformed'],
  ['filename="a"', 'its Content-Disposition has no name'],
  ['name=""', 'its Content-Disposition has no name'],
  ['name="passphrase"; name="other"', 'its Content-Disposition has more than one name'],
  ['name="passphrase"; name*=UTF-8\'\'other', 'its Content-Disposition has both name and name*'],
  ["name*=UTF-8''pass%zz", "name* in its Content-Disposition must be percent-encoded, as in UTF-8''a"],
  ["name*=none''passphrase", "name* in its Content-Disposition must be percent-encoded, as in UTF-8''a"],
  ['name="\xff"', 'its name must be UTF-8'],
  ['Content-Disposition: name="passphrase"', 'its Content-Disposition does not begin with form-data;'],
  ['X: y', 'it has no Content-Disposition'],
  [
    'Content-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="passphrase"',
    'it has more than one Content-Disposition',
  ],
  ['X: y\r\nname="passphrase"', 'line 2 of its headers has no name or colon'],
  [
    'X: y\nContent-Disposition: form-data; name="passphrase"',
    'its headers must not contain control characters, and their lines must end with CR LF',
  ],
  [
    'Content-Disposition: form-data; name="passphrase"\r\nContent-Transfer-Encoding: base64',
    'it must be sent without Content-Transfer-Encoding',
  ],
  [
    `X: ${'y'.repeat(8_192)}\r\nContent-Disposition: form-data; name="passphrase"`,
    'its headers have more than 8192 bytes',
  ],
]

const UNREADABLE_FORMS: readonly (readonly [name: string, body: string, message: string])[] = [
  ...UNREADABLE_HEADERS.map(
    ([headers, reason]) =>
      [
        `the headers ${JSON.stringify(headers).slice(0, 100)}`,
        SECRET + part(headers, 'open sesame') + END,
        PART_2 + reason,
      ] as const,
  ),
  [
    'no empty line after the headers of a part',
    SECRET + PASSPHRASE.replace('\r\n\r\n', '\r\n') + END,
    `${PART_2}the empty line after its headers is missing`,
  ],
  [
    'a part in an unknown charset',
    SECRET +
      part('Content-Type: text/plain; charset=none\r\nContent-Disposition: form-data; name="passphrase"', 'x') +
      END,
    'Part 2 of the form (passphrase) cannot be read: its text cannot be decoded as none',
  ],
  [
    'a part that is not UTF-8',
    SECRET + part('name="passphrase"', '\xff') + END,
    'Part 2 of the form (passphrase) cannot be read: its text cannot be decoded as UTF-8',
  ],
  [
    'a byte order mark before its first boundary',
    `\xef\xbb\xbf${PASSPHRASE}${SECRET}${END}`,
    'The form has a part before its first boundary',
  ],
  ['a part without its boundary', PASSPHRASE.slice(5) + SECRET + END, 'The form has a part before its first boundary'],
  ['a part after its last boundary', SECRET + END + PASSPHRASE + END, 'The form has a part after its last boundary'],
  [
    'other characters after a boundary',
    SECRET + PASSPHRASE.replace('B', 'Bx') + END,
    'Boundary 2 of the form must be followed by CR LF, or by -- if it is the last one',
  ],
  [
    'a longer boundary in a text',
    part('name="secret"', 's3\r\n--Boundary\r\ncret') + END,
    'Boundary 2 of the form must be followed by CR LF, or by -- if it is the last one',
  ],
  [
    'LF before a boundary',
    SECRET.slice(0, -2) + '\n' + PASSPHRASE + END,
    'Boundary 2 of the form must follow CR LF, got LF',
  ],
  [
    'LF line ends',
    (SECRET + PASSPHRASE + END).replaceAll('\r', ''),
    'Boundary 1 of the form must be followed by CR LF, or by -- if it is the last one',
  ],
  ['another boundary', SECRET.replace('B', 'C') + END.replace('B', 'C'), 'The form does not contain its boundary'],
  ['no last boundary', SECRET + PASSPHRASE, 'The form ends in part 2, before its last boundary'],
  ['half of a boundary at its end', `${SECRET}${PASSPHRASE}--B-`, 'The form ends in part 3, before its last boundary'],
  [
    'a hundred and one parts',
    SECRET + part('name="other"', 'x').repeat(99) + PASSPHRASE + END,
    'The form must have at most 100 parts',
  ],
]

for (const [name, body, message] of UNREADABLE_FORMS) {
  test(`with ${name} is rejected with 400, and nothing is stored`, async (given) => {
    const streams = await streamsAfter(given, async () => expectError(await share(given, body), 400, message))
    assert.equal(streams, [])
  })
}

test('without a valid boundary in its Content-Type is rejected with 400', async (given) => {
  for (const boundary of ['', '""', 'b'.repeat(71)]) {
    const headers = { 'Content-Type': `multipart/form-data; boundary=${boundary}` }
    const message = 'The Content-Type multipart/form-data must have a boundary of 1 to 70 characters'
    expectError(await share(given, SECRET + END, headers), 400, message)
  }
})

const PDF = '%PDF-1.4\n%%EOF\n'

const attach = ({ service, diamond }: Given, parts: string): Promise<ApiResponse> => {
  const body = part('name="product"', String(diamond)) + part('name="laboratory"', 'GIA') + parts + END
  return service.ann.send({
    method: 'POST',
    path: '/v4/certification',
    headers: HEADERS,
    body: Buffer.from(body, 'latin1'),
  })
}

const FILE_NAMES: readonly (readonly [headers: string, name: string])[] = [
  ['name="file"; filename="1" stone.pdf"', '1 stone.pdf'],
  ['name="file"; filename=""x.pdf"', 'x.pdf'],
  ['name="file"; filename="a"; b.pdf"', 'a; b.pdf'],
  ['name="file"; filename="a; v=1.pdf"', 'a; v=1.pdf'],
  ['name="file"; filename=x y.pdf', 'x y.pdf'],
  ['name="file"; filename=x(1)[2].pdf', 'x(1)[2].pdf'],
  ['name="file"; filename=a;b.pdf', 'a;b.pdf'],
  ['name="file"; filename=\xc3\xa9.pdf', 'é.pdf'],
  ['name="file"; filename="x.pdf";', 'x.pdf'],
  ['name="file"; filename="x.pdf"; ', 'x.pdf'],
  ['name="file";;filename="x.pdf"', 'x.pdf'],
  ['name="file"; filename="x\\"y\\\\z.pdf"', 'z.pdf'],
  ['name="file"; filename="C:\\stones\\x.pdf"', 'x.pdf'],
  ['name="file"; filename="x.pdf"; size=12', 'x.pdf'],
  ['name="file"; filename*=UTF-8\'\'x%20y.pdf; filename="z.pdf"', 'x y.pdf'],
  ['name="file"; filename*=UTF-8\'\'x%zz.pdf', 'x%zz.pdf'],
  ['name="file"; filename*=none\'\'x.pdf', 'x.pdf'],
  ['Content-Disposition: attachment; name="file"; filename="x.pdf"', 'x.pdf'],
  ['Content-Disposition: file; filename="x.pdf"; name="file"', 'x.pdf'],
  ['Content-Disposition: form-data; name="file";\r\n filename="x.pdf"', 'x.pdf'],
]

/** The name in the Content-Disposition of a download. */
function fileNameIn(disposition: string): string {
  const [, encoded, plain = ''] = /filename\*=UTF-8''(.*)|filename="(.*)"$/.exec(disposition) ?? []
  return encoded === undefined ? plain : decodeURIComponent(encoded)
}

for (const [headers, name] of FILE_NAMES) {
  test(`with the headers ${JSON.stringify(headers)} stores the file as ${name}`, async (given) => {
    const { file } = certification(expect(201, await attach(given, part(headers, PDF))))
    const response = expect(200, await given.service.send({ path: pathOf(file) }))
    assert.is(response.text, PDF)
    assert.is(fileNameIn(String(response.headers['content-disposition'])), name)
  })
}

for (const [name, parts, message] of [
  [
    'a file without a name',
    part('filename="x.pdf"', PDF),
    'Part 3 of the form cannot be read: its Content-Disposition has no name',
  ],
  [
    'a file name without its closing quote',
    part('name="file"; filename="x.pdf', PDF),
    'Part 3 of the form cannot be read: filename in its Content-Disposition must be in double quotes',
  ],
  [
    'a file without Content-Disposition',
    part('X: y', PDF),
    'Part 3 of the form cannot be read: it has no Content-Disposition',
  ],
  [
    'an encoded file',
    part(
      'Content-Disposition: form-data; name="file"; filename="x.pdf"\r\nContent-Transfer-Encoding: base64',
      btoa(PDF),
    ),
    'Part 3 of the form cannot be read: it must be sent without Content-Transfer-Encoding',
  ],
  [
    'a file after its last boundary',
    END + part('name="file"; filename="x.pdf"', PDF),
    'The form has a part after its last boundary',
  ],
  [
    'an unreadable part after its file',
    part('name="file"; filename="x.pdf"', PDF) + part('name="number', '1'),
    'Part 4 of the form cannot be read: name in its Content-Disposition must be in double quotes',
  ],
  [
    'too many parts',
    part('name="file"; filename="x.pdf"', PDF) +
      Array.from({ length: 18 }, (_, index) => part(`name="${index}"`, '')).join(''),
    'The form must have at most 20 parts',
  ],
] as const) {
  test(`of a certification with ${name} is rejected with 400, and nothing is stored`, async (given) => {
    const files = await filesOf(given.service)
    const streams = await streamsAfter(given, async () =>
      assert.equal(refusal(400, await attach(given, parts)).error, [message]),
    )
    assert.equal(streams, [])
    assert.equal(await filesOf(given.service), files)
  })
}

test('of a certification with a text that is too long is rejected, not truncated', async (given) => {
  const { details } = refusal(422, await attach(given, part('name="number"', `33188${' '.repeat(1_020)}7`)))
  assert.equal(details, [{ pointer: '/number', message: 'number must be at most 1,024 bytes', code: 'range' }])
})

test.run()
