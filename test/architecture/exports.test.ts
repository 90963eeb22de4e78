import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { unnamedExports } from './exports.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const sources = ['src', 'test', 'bench', 'scripts'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name) && !name.includes('node_modules'))
    .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(join(root, folder, name), 'utf8') })),
)

const test = suite('what a file exports')

test('is named by another one', () => {
  assert.ok(sources.length > 500, `only ${sources.length} files were found`)
  assert.equal(unnamedExports(sources, 'src/'), [])
})

test('and nobody names is found', () => {
  const a = { path: 'src/a.ts', text: 'export const b = 1\nexport function c() {}\nexport type D = string\n' }
  const named = (text: string) => unnamedExports([a, { path: 'test/e.ts', text }], 'src/')
  assert.equal(named(''), ['src/a.ts: b', 'src/a.ts: c'])
  assert.equal(named("import {\n  c,\n  b as x } from '../src/a.ts'"), [])
  assert.equal(named("import * as a from '../src/a.ts'"), [])
  assert.equal(named("const { b } = await import('../src/a.ts')"), [])
  assert.equal(named("import { b } from './a.ts'\nimport { type c } from '../src/a.ts'"), ['src/a.ts: b'])
})

test.run()
