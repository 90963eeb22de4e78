import * as fc from '../../fast-check.ts'
import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { request, type Request } from '../harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from '../harness/service.ts'
import { newSender, reveal, shownIn, type Sender } from '../harness/secrets.ts'

type Given = { service: Service; url: string; pro: Sender }
const test = suite<Given>('a revealed secret')
test.before(async (given) => {
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, settings: { RATE_LIMIT: '0' } })
  given.url = given.service.url
  given.pro = await newSender(given.service.installation, 'pro')
})
test.after(({ service }) => service.stop())

const path = '/api/v1/share'
const BOUNDARY = '----c7a6f1'
/** Every encoding in which clients send a text. */
const ENCODINGS: readonly ((secret: string) => Request)[] = [
  (secret) => ({ path, body: new URLSearchParams({ secret }).toString() }),
  (secret) => ({ path, body: `secret=${encodeURIComponent(secret)}` }),
  (secret) => ({ path: `${path}?${new URLSearchParams({ secret }).toString()}` }),
  (secret) => ({ path, json: { secret } }),
  (secret) => ({
    path,
    body: `--${BOUNDARY}\r\nContent-Disposition: form-data; name="secret"\r\n\r\n${secret}\r\n--${BOUNDARY}--\r\n`,
    headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` },
  }),
]

async function roundTrip({ url, pro }: Given, encoded: Request): Promise<string> {
  const headers = { ...encoded.headers, Authorization: pro.authorization }
  const { secret_key } = shownIn(await request(url, { method: 'POST', ...encoded, headers }))
  return shownIn(await reveal(url, secret_key)).value
}

const TEXTS = [
  'Grüße, ça va? ñandú',
  'Секрет 秘密 シークレット 비밀 סוד سر रहस्य ความลับ',
  '👩‍👩‍👧‍👦💎🏴󠁧󠁢󠁳󠁣󠁴󠁿 \u{10ffff}',
  'trailing newlines\n\n',
  '\r\nwindows\r\n',
  ' spaces around ',
  '\ufeffa byte order mark first',
  'a\u0000nul\u0007bell\u001b[31m',
  'a+b %20 %2B & = ; ? # 100% %zz "quoted" \\back\\ --boundary',
  'e\u0301 is not é',
  'line\u2028separator',
  '<script>alert(1)</script>',
]

for (const text of TEXTS) {
  test(`equals the shared text byte for byte: ${JSON.stringify(text).slice(0, 40)}`, async (given) => {
    for (const encode of ENCODINGS) assert.is(await roundTrip(given, encode(text)), text)
  })
}

test('equals the shared text byte for byte, at 10,000 characters', async (given) => {
  const text = '🙂é\n'.repeat(3333) + 'x'
  for (const encode of ENCODINGS) assert.ok((await roundTrip(given, encode(text))) === text)
})

test('equals the shared text byte for byte, for random texts', async (given) => {
  const wellFormed = fc.anyText({ minLength: 1, maxLength: 60 })
  const property = fc.asyncProperty(wellFormed, fc.constantFrom(...ENCODINGS), async (text, encode) => {
    assert.is(await roundTrip(given, encode(text)), text)
  })
  await fc.assert(property, { numRuns: process.env['ADAMANT_FULL'] ? 5000 : 150 })
})

test.run()
