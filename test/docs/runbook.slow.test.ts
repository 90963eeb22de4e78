import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freePort } from '../free-port.ts'
import { codeBlocksOf, isInstalled, run } from './blocks.ts'

const PAGE = 'docs/runbook.md'
const PROJECT = fileURLToPath(new URL('../../', import.meta.url))

type Given = {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** Replaces the system's paths in a text with paths of this test. */
  withTestPaths(text: string): string
}
const test = suite<{ given: Given }>(PAGE)

/** A folder with Adamant installed as on the page. */
test.before(async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-runbook-'))
  const port = String(await freePort())
  const replacements: readonly (readonly [there: string, here: string])[] = [
    ['/etc/adamant.env', join(folder, 'adamant.env')],
    ['/opt/adamant', join(folder, 'opt')],
    ['/var/lib/adamant', join(folder, 'data')],
    ['/var/backups/adamant', join(folder, 'backups')],
    ['8080', port],
  ]
  const withTestPaths = (text: string) =>
    replacements.reduce((replaced, [systemPath, testPath]) => replaced.replaceAll(systemPath, testPath), text)
  symlinkSync(PROJECT, join(folder, 'opt'))
  for (const name of ['bin', 'backups']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'adamant.env'), `PORT=${port}\n`)
  const command = join(folder, 'bin', 'adamant')
  writeFileSync(command, withTestPaths(readFileSync(join(PROJECT, 'ops/adamant'), 'utf8')))
  chmodSync(command, 0o755)
  const PATH = `${join(folder, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`
  context.given = { folder, withTestPaths, env: { PATH } }
})
test.after(({ given }) => rmSync(given.folder, { recursive: true, force: true }))

/** The expected output of each block, by a word in the block. */
const EXPECTED_OUTPUTS: readonly (readonly [block: string, seen: RegExp])[] = [
  ['adamant --version', /^\d+\.\d+\.\d+$[^]*npx adamant backup \/backups/m],
  ['adamant status', /diamonds v\d+ .* yes$/m],
  ['user add', /jane@example\.com is registered/],
  ['jq .expires_in', /^604800$/m],
  ['import stones.csv', /2 stones/],
  ['/metrics', /adamant_follower_lag\{follower="diamonds"\} \d+/],
  ['select(.security)', /"security":"log-in"/],
  ['adamant audit user', /AccountRegistered[^]*operator/],
  ['adamant backup /var', /Backed up \d+ events and 0 files \([\d,]+ bytes\) to /],
  ['adamant-trial', /^2$/m],
  ['--replace', /"status":"ok"|ready/],
  ['verify --sample', /No differences[^]*No differences/],
  ['adamant checkpoint', /^$/],
  ['rebuild diamonds', /Rebuilt diamonds/],
  ['dead-letters', /./],
  ['key rotate links', /The link key was replaced[^]*has a new password/],
  ['adamant forget', /is disabled[^]*is disabled/],
]

const needed = [
  ['curl', '--version'],
  ['jq', '--version'],
  ['openssl', 'version'],
] as const
if (needed.every(([program, word]) => isInstalled(program, [word]))) {
  const promtool = process.env['PROMTOOL'] ?? 'promtool'
  const checksRules = isInstalled(promtool)
  /** The shell exits at the first failing line and kills its background jobs. */
  const HEAD = `set -emo pipefail; trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
promtool() { ${checksRules ? `command '${promtool}' "$@"` : 'true'}; }`

  test('has shell commands that work in order, from the first start to closing an account', async ({ given }) => {
    const { folder, withTestPaths, env } = given
    const steps = codeBlocksOf(PAGE, 'sh')
    const script = [HEAD, ...steps.map((block) => withTestPaths(block))].join('\necho "---"\n')
    const { out, err, code } = await run('bash', ['-c', script], { env, cwd: folder })
    assert.is(code, 0, `${err}\n${out}`)
    const outputs = out.split('---\n').slice(1)
    assert.is(outputs.length, steps.length)
    for (const [command, expected] of EXPECTED_OUTPUTS) {
      const at = steps.findIndex((block) => block.includes(command))
      assert.match(outputs[at] ?? `no block has ${command}`, expected)
    }
  })

  test('has a systemd unit whose command makes a backup', async ({ given }) => {
    const { folder, withTestPaths, env } = given
    const unit = readFileSync(join(PROJECT, 'ops/adamant-backup.service'), 'utf8')
    const [, line = ''] = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(unit) ?? []
    const command = withTestPaths(line.replaceAll('%%', '%').replaceAll('$$', '$'))
    const { out, err, code } = await run('/bin/sh', ['-c', command], {
      env: { ...env, DATA_DIR: join(folder, 'data') },
      cwd: folder,
    })
    assert.is(code, 0, err)
    assert.match(out, /events and .* to .*\/\d{4}-\d\d-\d\dT\d{6}$/m)
  })
}

test.run()
