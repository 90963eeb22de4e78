import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseSettings } from '../../src/cli/settings-file.ts'
import { readSettings } from '../../src/wiring/settings.ts'
import { codeBlocksOf, run } from './blocks.ts'

const PAGE = 'docs/runbook.md'
const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const test = suite(`the blocks of ${PAGE} that tests do not run`)

const skippedBlocks = ['nginx', 'Docker', 'promtool'].flatMap((need) => codeBlocksOf(PAGE, `sh with ${need}`))
console.log(
  `LEFT OUT: ${skippedBlocks.length} blocks of ${PAGE} that need nginx, Docker or promtool; only their syntax is checked`,
)

test('are valid shell and name existing files of the project', async () => {
  assert.is(skippedBlocks.length, 3)
  for (const block of skippedBlocks) {
    const { err, code } = await run('bash', ['-n'], { env: {}, input: block })
    assert.is(code, 0, err)
    const named = [...block.matchAll(/(?:\/opt\/adamant\/|(?<![\w/.-]))(ops\/[\w./-]+)/g)].map(([, path = '']) => path)
    for (const path of named.filter((name) => name !== 'ops/master.key')) assert.ok(existsSync(root(path)), path)
  }
})

test('are the only ones', () => {
  const languages = readFileSync(root(PAGE), 'utf8').match(/(?<=^```)sh.*$/gm) ?? []
  const tested = languages.filter((language) => !/ with (?:nginx|Docker|promtool)$/.test(language))
  assert.equal([...new Set(tested)], ['sh', 'sh from a package'])
})

test('are preceded by a settings file that has settings only', () => {
  const [, file = ''] = /<<'END'\n([^]*?)^END$/m.exec(codeBlocksOf(PAGE, 'sh').join('')) ?? []
  const { variables } = parseSettings(file)
  assert.ok(variables.size > 5)
  const settings = readSettings(Object.fromEntries(variables)) as Record<string, unknown>
  for (const name of variables.keys()) assert.ok(settings[name] !== undefined, `${name} is no setting`)
  assert.is(settings['MAIL_FROM'], 'Adamant <no-reply@example.com>')
})

test('use the file name of the package that npm creates', () => {
  const { name, version } = JSON.parse(readFileSync(root('package.json'), 'utf8')) as Record<string, string>
  const named = readFileSync(root(PAGE), 'utf8').match(/adamant-\d[\w.-]*\.tgz/g) ?? []
  assert.equal([...new Set(named)], [`${name}-${version}.tgz`])
})

test.run()
