import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { importCycles } from './architecture/import-cycles.ts'
import { hasLayer, moduleOf, wrongImports } from './architecture/layers.ts'

const src = fileURLToPath(new URL('../src', import.meta.url))
const modules = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => moduleOf(name.replaceAll('\\', '/'), readFileSync(join(src, name), 'utf8')))

const test = suite('imports in src')

test('follow the allowed directions between layers', () => {
  assert.ok(modules.length > 100, `only ${modules.length} modules were found`)
  const wrong = wrongImports(modules)
  assert.is(wrong.length, 0, `\n${wrong.join('\n')}`)
})

test('belong to known layers: src itself contains only main.ts, and each folder is a layer', () => {
  assert.equal(
    modules.map(({ path }) => path).filter((path) => !hasLayer(path)),
    [],
  )
  assert.equal(['room.ts', 'rooms/a.ts', 'domain/a.ts', 'stores/sqlite/a.ts'].map(hasLayer), [false, false, true, true])
})

test('form no cycles, type imports included', () => {
  const found = importCycles(modules).map((cycle) => cycle.join('\n  imports '))
  assert.is(found.length, 0, `import cycles, the shortest of each strongly connected component:\n${found.join('\n')}`)
})

const graph = (imports: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(imports).map(([path, names]) => ({ path, imports: names }))

test('that form cycles are reported by the shortest cycle', () => {
  const knot = graph({ a: ['b'], b: ['c'], c: ['a', 'd'], d: ['c'], e: ['a'] })
  assert.equal(importCycles(knot), [['c', 'd', 'c']])
  assert.equal(importCycles(graph({ a: ['b', 'c'], b: ['c'], c: [] })), [])
  assert.equal(importCycles(graph({ a: ['a'], b: ['c'], c: ['b'] })), [
    ['a', 'a'],
    ['b', 'c', 'b'],
  ])
})

/** The entries complete the sentence "imports in src are rejected in …". */
const faults: readonly (readonly [name: string, path: string, source: string])[] = [
  ['a domain module that imports a command', 'domain/a.ts', "import { b } from '../commands/b.ts'"],
  ['a domain module that imports a node module', 'domain/diamond/a.ts', "import { randomUUID } from 'node:crypto'"],
  ['a domain module that imports the table of another room', 'domain/a.ts', "import b from '../http/b.json'"],
  ['a module of the optics that imports the domain', 'optics/a.ts', "import type { b } from '../domain/b.ts'"],
  ['a module of the optics that imports a package', 'optics/cut/a.ts', "import { z } from 'zod'"],
  ['a module of the optics that imports its threads', 'optics/a.ts', "import { b } from './threads/b.ts'"],
  ['a tracing thread that imports a store', 'optics/threads/a.ts', "import { b } from '../../stores/ports/b.ts'"],
  ['a reader of trade files that imports a command', 'trade-files/a.ts', "import type { b } from '../commands/b.ts'"],
  ['a reader of trade files that asks in the terminal', 'trade-files/a.ts', "import { b } from 'node:readline'"],
  ['a command that imports a route', 'commands/a.ts', "import type { b } from '../http/b.ts'"],
  ['a projection that imports a command', 'projections/a.ts', "import type { b } from '../commands/b.ts'"],
  ['a projection that imports an adapter', 'projections/a.ts', "import { b } from '../stores/sqlite/events.ts'"],
  ['a route that imports a subcommand', 'http/diamonds/a.ts', "import { b } from '../../cli/b.ts'"],
  ['a subcommand that loads an adapter late', 'cli/a.ts', "const b = await import('../stores/sqlite/events.ts')"],
  ['an operation that imports a subcommand', 'maintenance/move/a.ts', "import { b } from '../../cli/b.ts'"],
  ['the composition root that imports an operation', 'wiring/a.ts', "import { b } from '../maintenance/b.ts'"],
  ['the composition root that imports a subcommand', 'wiring/a.ts', "import { b } from '../cli/b.ts'"],
  ['a module of the runtime that imports a port', 'runtime/a.ts', "import { b } from '../stores/ports/event-store.ts'"],
  ['an adapter that imports a route', 'stores/sqlite/events/a.ts', "export { b } from '../../../http/b.ts'"],
  ['the entry module, which must load on any Node,', 'main.ts', "import { b } from './stores/folder/files.ts'"],
  ['a module next to main.ts that imports an adapter', 'room.ts', "import { b } from './stores/folder/files.ts'"],
]

for (const [name, path, source] of faults) {
  test(`are rejected in ${name}`, () => {
    assert.is(wrongImports([moduleOf(path, source)]).length, 1)
  })
}

test('of adapters are allowed in the composition root', () => {
  assert.equal(wrongImports([moduleOf('wiring/a.ts', "import { b } from '../stores/sqlite/events.ts'")]), [])
})

test.run()
