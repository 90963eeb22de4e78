import { posix } from 'node:path'

/** A module and what it imports: paths from src/ on, other packages by their names. */
export type Module = { readonly path: string; readonly imports: readonly string[] }

/** Of src/stores, what is asked of a store stands in ports; every other module there is part of an adapter. */
const PORT = 'stores/ports/'

/**
 * What each room may import of src besides itself. Modules in wiring and right in src compose the rooms and may name them
 * all.
 */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  runtime: ['port'],
  port: ['domain'],
  representations: ['domain'],
  events: ['domain', 'port'],
  credentials: ['domain', 'runtime'],
  scoring: ['domain', 'runtime'],
  reports: ['domain', 'runtime'],
  adapter: ['port', 'events', 'domain', 'runtime'],
  commands: ['domain', 'representations', 'events', 'port', 'credentials', 'runtime'],
  projections: [
    'domain',
    'representations',
    'events',
    'port',
    'credentials',
    'commands',
    'reactions',
    'scoring',
    'runtime',
  ],
  reactions: ['domain', 'events', 'port', 'credentials', 'commands', 'projections', 'scoring', 'runtime'],
  http: [
    'domain',
    'representations',
    'events',
    'port',
    'credentials',
    'commands',
    'projections',
    'reports',
    'scoring',
    'runtime',
  ],
  cli: [
    'domain',
    'representations',
    'events',
    'port',
    'credentials',
    'commands',
    'projections',
    'reactions',
    'scoring',
    'runtime',
    'wiring',
  ],
}

/** `./x.ts` as seen from a module becomes a path from src/ on. */
export function moduleOf(path: string, source: string): Module {
  const named = [...source.matchAll(/(?:^|[\s;}])(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, name]) => name ?? '')
  return {
    path,
    imports: named.map((name) => (name.startsWith('.') ? posix.join(posix.dirname(path), name) : name)),
  }
}

/** Every import that points the wrong way, as a sentence. */
export function wrongImports(modules: readonly Module[]): string[] {
  return modules.flatMap(({ path, imports }) => {
    const layer = layerOf(path)
    return imports.filter((name) => !mayImport(layer, name)).map((name) => sentence(path, layer, name))
  })
}

function mayImport(layer: string, name: string): boolean {
  if (!name.endsWith('.ts')) return layer !== 'domain'
  const other = layerOf(name)
  if (other === 'adapter') return layer === 'adapter' || layer === 'wiring'
  const allowed = ALLOWED[layer]
  return allowed === undefined || other === layer || allowed.includes(other)
}

/** A module right in src is a layer of its own. */
function layerOf(path: string): string {
  const folder = path.split('/', 1)[0] ?? path
  if (folder !== 'stores') return folder
  return path.startsWith(PORT) ? 'port' : 'adapter'
}

function sentence(path: string, layer: string, name: string): string {
  if (layerOf(name) === 'adapter') return `src/${path} names the adapter src/${name}; only src/wiring may`
  const allowed = ALLOWED[layer] ?? []
  return `src/${path} imports ${name}; ${layer} may import ${[layer, ...allowed].join(', ')}`
}
