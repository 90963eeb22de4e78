import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { smallPdf } from '../api/harness/form.ts'
import { codeBlocksOf, isInstalled, run } from './blocks.ts'
import { newInstallation, type NewInstallation } from './new-installation.ts'

type Given = { given: NewInstallation; env: Readonly<Record<string, string>> }
const test = suite<Given>('a documentation page for API clients')

/** The result of getting-started.md, which readers have followed before: a token and a stone. */
test.before(async (context) => {
  context.given = await newInstallation()
  const { API = '', EMAIL = '', PASSWORD = '', CLIENT_ID = '', CLIENT_SECRET = '' } = context.given.env
  const credentials = { username: EMAIL, password: PASSWORD, client_id: CLIENT_ID, client_secret: CLIENT_SECRET }
  const body = new URLSearchParams({ grant_type: 'password', ...credentials })
  const granted = await fetch(`${API}/api/oauth/v2/token`, { method: 'POST', body })
  const { access_token: TOKEN } = (await granted.json()) as { access_token: string }
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' }
  const stone = JSON.stringify({ sku: 'A-1', cutShape: 'Round', carat: 0.71 })
  const created = await fetch(`${API}/v4/diamond`, { method: 'POST', headers, body: stone })
  const { id } = (await created.json()) as { id: number }
  writeFileSync(join(context.given.folder, '2136273512.pdf'), smallPdf(2000))
  context.env = { ...context.given.env, TOKEN, ID: String(id), SECRETS: API }
})
test.after(({ given }) => given.remove())

type Page = {
  readonly page: string
  /** How many blocks at the start only set variables that the test provides. */
  readonly setupBlocks: number
  readonly shell: RegExp
  readonly program?: RegExp
}
const PAGES: readonly Page[] = [
  {
    page: 'docs/certifications.md',
    setupBlocks: 0,
    shell: /"number": "2136273512"[^]*"laboratory":"GCAL"[^]*---\n%PDF-1/,
    program: /^http.*\/v4\/certification\/\d+\/file\?signature=\S+\n$/,
  },
  {
    page: 'docs/secrets.md',
    setupBlocks: 1,
    shell: /"state": "new"[^]*the door opens with 4711[^]*---\n\S{12}\n---\nreceived\nburned\n(?:burned|received)\n/,
    program: /^the door opens with 4711\n$/,
  },
  {
    page: 'docs/upload.md',
    setupBlocks: 0,
    shell:
      /\["asking",0,\[\["map\[Box\]","sku",""\],\["map\[Price\]","price",""\]\]\][^]*\["invalid",\{"line":3,"column":"Weight","message":"carat must be a number [^]*\["ready",1\][^]*applying\n\{"created":1,"changed":0,"unchanged":0,"deleted":0,"certifications":0\}\nundoing\n/,
  },
  { page: 'docs/exports.md', setupBlocks: 0, shell: /---\n\{"format":"rapnet","stones":\d+,"remarks":\[/ },
  { page: 'docs/webhooks.md', setupBlocks: 0, shell: /"secret": ?"whsec_/ },
]

for (const { page, setupBlocks: named, shell, program: printed } of PAGES) {
  if (isInstalled('curl') && isInstalled('jq')) {
    test(`has shell commands that work: ${page}`, async ({ given: { folder }, env }) => {
      const steps = codeBlocksOf(page, 'sh').slice(named)
      const { out, err, code } = await run('bash', ['-c', ['set -euo pipefail', ...steps].join('\necho ---\n')], {
        env,
        cwd: folder,
      })
      assert.is(code, 0, `${err}\n${out}`)
      assert.match(out, shell)
    })
  }
  if (printed === undefined) continue
  for (const [language, program, args] of [
    ['python', 'python3', ['-']],
    ['js', process.execPath, ['--input-type=module', '-']],
    ['php', 'php', []],
  ] as const) {
    if (!isInstalled(program)) continue
    test(`has a ${language} program that works: ${page}`, async ({ given: { folder }, env }) => {
      const input = codeBlocksOf(page, language)[0] ?? ''
      const { out, err, code } = await run(program, args, { env, cwd: folder, input })
      assert.is(code, 0, `${err}\n${out}`)
      assert.match(out, printed)
    })
  }
}

test.run()
