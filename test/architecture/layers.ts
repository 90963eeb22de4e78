import { posix } from 'node:path'

/** A module and what it imports: paths from src/ on, other packages by their names. */
export type Module = { readonly path: string; readonly imports: readonly string[] }

/** Ports say what is asked of a store; every other module of src/stores is part of an adapter. */
const PORT = /^stores\/(event-store|read-store|vault|files|mail|seen|schemas\/.*)\.ts$/
const PLATFORM = [
  'nap.ts',
  'patience.ts',
  'signs-of-life.ts',
  'start-worker.ts',
  'start-program.ts',
  'stand-back.ts',
  'worker-pool.ts',
]
const ROOT = [
  'installation.ts',
  'refusals.ts',
  'security-log.ts',
  'service.ts',
  'settings.ts',
  'store-addresses.ts',
  'log.ts',
  'version.ts',
  ...PLATFORM,
]

/** What each layer may import of src besides itself. Modules in wiring and right in src compose the layers and may name them all. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  runtime: [],
  fairness: [],
  credentials: ['domain', 'fairness', ...PLATFORM],
  scoring: ['pictures', 'domain', ...PLATFORM],
  reports: ['domain', ...PLATFORM],
  port: ['domain'],
  adapter: ['port', 'domain', 'log.ts', ...PLATFORM],
  commands: ['domain', 'port', 'credentials'],
  projections: [
    'domain',
    'port',
    'credentials',
    'commands',
    'scoring',
    'log.ts',
    'nap.ts',
    'patience.ts',
    'signs-of-life.ts',
  ],
  http: [
    'domain',
    'port',
    'credentials',
    'commands',
    'projections',
    'reports',
    'fairness',
    'slices.ts',
    'log.ts',
    'version.ts',
  ],
  cli: ['domain', 'port', 'credentials', 'commands', 'projections', 'scoring', ...ROOT],
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
  return PORT.test(path) ? 'port' : 'adapter'
}

function sentence(path: string, layer: string, name: string): string {
  if (layerOf(name) === 'adapter') return `src/${path} names the adapter src/${name}; only src/wiring may`
  const allowed = ALLOWED[layer] ?? []
  return `src/${path} imports ${name}; ${layer} may import ${[layer, ...allowed].join(', ')}`
}
