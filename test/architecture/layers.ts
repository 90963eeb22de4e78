import { posix } from 'node:path'

/** A module and its imports: paths relative to src/, packages by name. */
export type Module = { readonly path: string; readonly imports: readonly string[] }

/** The folders that are several layers, by the start of a module's path: the first that matches. */
const SPLIT: Readonly<Record<string, readonly { readonly prefix: string; readonly layer: string }[]>> = {
  stores: [
    { prefix: 'stores/ports/', layer: 'port' },
    { prefix: 'stores/log/', layer: 'log' },
    { prefix: 'stores/', layer: 'adapter' },
  ],
  'trade-files': [
    { prefix: 'trade-files/reader/', layer: 'trade-file-reader' },
    { prefix: 'trade-files/', layer: 'trade-files' },
  ],
  optics: [
    { prefix: 'optics/threads/', layer: 'threads' },
    { prefix: 'optics/', layer: 'optics' },
  ],
}

/** The layers that all layers with the service's functions may import. */
const CORE = ['optics', 'domain', 'representations', 'events', 'evidence', 'port', 'credentials', 'runtime'] as const

/** The layers that each layer may import besides itself. Wiring composes the service; main.ts may import all layers. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  optics: [],
  domain: ['optics'],
  runtime: [],
  port: ['domain'],
  representations: ['domain', 'optics'],
  events: ['domain', 'port'],
  evidence: ['port'],
  credentials: ['domain', 'runtime'],
  threads: ['optics', 'runtime'],
  reports: ['domain', 'runtime'],
  'trade-file-reader': ['domain', 'runtime', 'trade-files'],
  'trade-files': ['domain', 'representations'],
  log: ['port', 'domain', 'runtime'],
  adapter: ['log', 'port', 'domain', 'runtime'],
  commands: ['domain', 'optics', 'events', 'port', 'credentials', 'trade-files'],
  projections: [...CORE],
  reactions: [...CORE, 'commands', 'projections'],
  http: [...CORE, 'commands', 'projections', 'trade-files'],
  wiring: [
    ...CORE,
    'threads',
    'reports',
    'trade-files',
    'trade-file-reader',
    'log',
    'adapter',
    'commands',
    'projections',
    'reactions',
    'http',
  ],
  maintenance: [...CORE, 'log', 'commands', 'projections', 'reactions', 'wiring'],
  cli: [...CORE, 'commands', 'projections', 'reactions', 'threads', 'trade-files', 'maintenance', 'wiring'],
}

/** Whether a module belongs to a layer, or is main.ts. */
export const hasLayer = (path: string): boolean =>
  path === 'main.ts' || (path.includes('/') && layerOf(path) in ALLOWED)

/** Resolves the module's relative imports to paths relative to src/. */
export function moduleOf(path: string, source: string): Module {
  const named = [...source.matchAll(/(?:^|[\s;}])(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, name]) => name ?? '')
  return {
    path,
    imports: named.map((name) => (name.startsWith('.') ? posix.join(posix.dirname(path), name) : name)),
  }
}

/** A message for each import that is not allowed. */
export function wrongImports(modules: readonly Module[]): string[] {
  return modules.flatMap(({ path, imports }) => {
    const layer = layerOf(path)
    return imports.filter((name) => !mayImport(layer, name)).map((name) => messageFor(path, layer, name))
  })
}

/**
 * The packages that these layers may import; the other layers may import all. Events are declared with their schemas. A trade file
 * is read from a folder, by the parsers of its formats.
 */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  optics: [],
  domain: ['zod'],
  'trade-files': [
    'node:crypto',
    'node:fs',
    'node:fs/promises',
    'node:path',
    'node:stream',
    'node:stream/promises',
    'node:util',
    'node:zlib',
    'csv-parse',
    'hucre/xlsx',
    'yauzl',
  ],
}

function mayImport(layer: string, name: string): boolean {
  if (!isOfSrc(name)) return PACKAGES[layer]?.includes(name) ?? true
  const other = layerOf(name)
  if (other === 'adapter') return layer === 'adapter' || layer === 'wiring'
  const allowed = ALLOWED[layer]
  return allowed === undefined || other === layer || allowed.includes(other)
}

/** Whether an import is a module or a JSON file of src, not a package. */
const isOfSrc = (name: string) => /\.(?:ts|json)$/.test(name) && !name.startsWith('..')

/** The layer of a path. A module directly in src is its own layer. */
function layerOf(path: string): string {
  const folder = path.split('/', 1)[0] ?? path
  return SPLIT[folder]?.find(({ prefix }) => path.startsWith(prefix))?.layer ?? folder
}

function messageFor(path: string, layer: string, name: string): string {
  if (layerOf(name) === 'adapter') return `src/${path} imports the adapter src/${name}; only src/wiring may`
  const allowed = ALLOWED[layer] ?? []
  return `src/${path} imports ${name}; ${layer} may import ${[layer, ...allowed].join(', ')}`
}
