import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Webhook } from 'standardwebhooks'
import { codeBlocksOf, isInstalled, run } from './blocks.ts'

const test = suite('the signature verification in docs/webhooks.md')

const block = (language: string) => codeBlocksOf('docs/webhooks.md', language)[0] ?? ''

const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD+v8Pnl1rT5s='
const BODY = '{"type":"diamond.changed","a":"ä"}'
const now = Date.now()
const timestamp = String(Math.floor(now / 1000))
const signed = (body: string, at = timestamp) => new Webhook(SECRET).sign('msg_1', new Date(Number(at) * 1000), body)
const headers = (signature: string, at = timestamp) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': at,
  'webhook-signature': signature,
})

const OLD = String(Number(timestamp) - 400)
const cases: readonly (readonly [name: string, isRight: boolean, headers: object, body: string])[] = [
  ['a valid signature', true, headers(signed(BODY)), BODY],
  ['one valid signature of two', true, headers(`v1,AAAA ${signed(BODY)}`), BODY],
  ['a signature of another body', false, headers(signed(`${BODY} `)), BODY],
  ['a signature with an old timestamp', false, headers(signed(BODY, OLD), OLD), BODY],
  ['no signature', false, headers(''), BODY],
]

test('works in Node', async () => {
  const module = `data:text/javascript;base64,${Buffer.from(block('js')).toString('base64')}`
  const { isGenuine } = (await import(module)) as { isGenuine: (...given: unknown[]) => boolean }
  for (const [name, isRight, given, body] of cases) {
    assert.is(isGenuine(SECRET, given, Buffer.from(body)), isRight, name)
  }
})

/** Each program runs the page's function on all cases from stdin and prints the results. */
const PROGRAMS = [
  [
    'python3',
    ['-c'],
    `${block('python')}
import json, sys
print(json.dumps([is_genuine("${SECRET}", found, body.encode()) for found, body in json.load(sys.stdin)]))`,
  ],
  [
    'php',
    ['-r'],
    `${block('php')}
$cases = json_decode(stream_get_contents(STDIN), true);
echo json_encode(array_map(fn ($case) => isGenuine('${SECRET}', $case[0], $case[1]), $cases));`,
  ],
] as const

for (const [program, args, source] of PROGRAMS) {
  if (!isInstalled(program)) continue
  test(`works in ${program}`, async () => {
    const input = JSON.stringify(cases.map(([, , given, body]) => [given, body]))
    const { out, err } = await run(program, [...args, source], { env: {}, input })
    assert.equal(
      JSON.parse(out || `"${err}"`),
      cases.map(([, isRight]) => isRight),
    )
  })
}

test.run()
