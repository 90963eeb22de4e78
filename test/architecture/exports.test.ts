import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { unusedExports } from './exports.ts'
import { lateLeads } from './lead-first.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const sources = ['src', 'test', 'bench', 'scripts'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name) && !name.includes('node_modules'))
    .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(join(root, folder, name), 'utf8') })),
)

const test = suite('an export')

test('is imported by another file', () => {
  assert.ok(sources.length > 500, `only ${sources.length} files were found`)
  assert.equal(unusedExports(sources, 'src/'), [])
})

test('that no file imports is reported', () => {
  const a = { path: 'src/a.ts', text: 'export const b = 1\nexport function c() {}\nexport type D = string\n' }
  const named = (text: string) => unusedExports([a, { path: 'test/e.ts', text }], 'src/')
  assert.equal(named(''), ['src/a.ts: b', 'src/a.ts: c', 'src/a.ts: D'])
  assert.equal(named("import {\n  c,\n  b as x, type D } from '../src/a.ts'"), [])
  assert.equal(named("import * as a from '../src/a.ts'"), [])
  assert.equal(named("const { b } = await import('../src/a.ts')"), [])
  assert.equal(named("import { b } from './a.ts'\nimport { type c, type D } from '../src/a.ts'"), ['src/a.ts: b'])
})

test('that others import stands in the first 40 % of its file, before the helpers', () => {
  assert.equal(lateLeads(sources, 'src/'), [])
})

test('that others import is reported if most of its file stands above it', () => {
  const used = { path: 'src/b.ts', text: "import { a } from './a.ts'\n" }
  const late = (above: number, below: number) =>
    lateLeads(
      [used, { path: 'src/a.ts', text: `${'//\n'.repeat(above)}export const a = 1\n${'//\n'.repeat(below)}` }],
      'src/',
    )
  assert.equal(late(41, 58), ['src/a.ts: 42'])
  assert.equal(late(40, 59), [])
  assert.equal(late(90, 8), [])
})

/** Imported names and the built file that they come from. */
const OF_BUILT = /\{([^{}]*)\} (?:from '[./]*dist\/|= await import\(new URL\(')([a-z/-]+)\.js'/g

/** Names that plain JavaScript imports from built files but src does not export. The compiler doesn't check these. */
function missingIn({ path, text }: { readonly path: string; readonly text: string }): string[] {
  return [...text.matchAll(OF_BUILT)].flatMap(([, names = '', module = '']) => {
    const source = sources.find((one) => one.path === `src/${module}.ts`)?.text ?? ''
    const isExported = (name: string) => new RegExp(`^export [^=\n]*\\b${name}\\b`, 'm').test(source)
    const missing = names.split(',').filter((name) => !isExported(name.trim()))
    return missing.map((name) => `${path}: ${name.trim()} of ${module}`)
  })
}

test('exists if plain JavaScript imports it from the built files', () => {
  const files = sources.filter(({ path, text }) => path.endsWith('.js') && text.includes('dist'))
  assert.ok(files.length >= 4, `only ${files.length} files were found`)
  assert.equal(files.flatMap(missingIn), [])
  const text =
    "import { run, gone } from '../dist/cli/program.js'\nconst { at } = await import(new URL('cli/none.js', dist))\n"
  assert.equal(missingIn({ path: 'a.js', text }), ['a.js: gone of cli/program', 'a.js: at of cli/none'])
})

test.run()
