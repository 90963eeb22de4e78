import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readSettings } from '../../src/wiring/settings.ts'
import { codeBlocksOf, run } from './blocks.ts'

const PAGE = 'docs/runbook.md'
const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const test = suite(`the blocks of ${PAGE} that tests do not run`)

const skippedBlocks = ['as root', 'with Docker'].flatMap((need) =>
  codeBlocksOf(PAGE, `sh ${need}`).map((block) => ({ need, block })),
)
console.log(
  `LEFT OUT: ${skippedBlocks.length} blocks of ${PAGE} that need root or Docker; only their syntax is checked`,
)

test('are valid shell and name existing files of the project', async () => {
  assert.ok(skippedBlocks.length >= 6, `${skippedBlocks.length}`)
  for (const { block } of skippedBlocks) {
    const { err, code } = await run('bash', ['-n'], { env: {}, input: block })
    assert.is(code, 0, err)
    const named = [...block.matchAll(/(?:\/opt\/adamant\/|(?<![\w/.-]))(ops\/[\w./-]+)/g)].map(([, path = '']) => path)
    for (const path of named.filter((name) => name !== 'ops/master.key')) assert.ok(existsSync(root(path)), path)
  }
})

test('have a settings file that a shell, systemd and the service read the same way', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-env-'))
  try {
    const [block = ''] = codeBlocksOf(PAGE, 'ini')
    // A shell and systemd agree on these forms: a bare word, or double quotes without `$`, backtick, `"` and `\` inside.
    for (const line of block.trim().split('\n')) assert.match(line, /^[A-Z_]+=(?:[\w:/@.,+-]+|"[^$`"\\]*")$/)
    writeFileSync(join(folder, 'adamant.env'), block)
    const { out } = await run('sh', ['-c', 'set -a; . ./adamant.env; exec env -0'], { env: {}, cwd: folder })
    const environment = Object.fromEntries(out.split('\0').map((line) => line.split(/=(.*)/s).slice(0, 2)))
    const given = block.match(/^[A-Z_]+/gm) ?? []
    assert.ok(given.length > 5)
    const settings = readSettings(environment as Record<string, string>) as Record<string, unknown>
    for (const name of given) assert.ok(settings[name] !== undefined, `${name} is no setting`)
    assert.is(settings['MAIL_FROM'], 'Adamant <no-reply@example.com>')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('use the file name of the package that npm creates', () => {
  const { name, version } = JSON.parse(readFileSync(root('package.json'), 'utf8')) as Record<string, string>
  const named = readFileSync(root(PAGE), 'utf8').match(/adamant-\d[\w.-]*\.tgz/g) ?? []
  assert.equal([...new Set(named)], [`${name}-${version}.tgz`])
})

test.run()
