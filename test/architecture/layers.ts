import { posix } from 'node:path'

/** A module and what it imports: paths from src/ on, other packages by their names. */
export type Module = { readonly path: string; readonly imports: readonly string[] }

/** Of src/stores, what is asked of a store stands in ports; every other module there is part of an adapter. */
const PORT = 'stores/ports/'

/** What the rooms of what the service does may know beside each other's. */
const CORE = ['domain', 'representations', 'events', 'evidence', 'port', 'credentials', 'runtime'] as const

/** What each room may import of src besides itself. Wiring composes those that make a service; main may name them all. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  runtime: [],
  port: ['domain'],
  representations: ['domain'],
  events: ['domain', 'port'],
  evidence: ['port'],
  credentials: ['domain', 'runtime'],
  scoring: ['domain', 'runtime'],
  reports: ['domain', 'runtime'],
  adapter: ['port', 'domain', 'runtime'],
  commands: ['domain', 'events', 'port', 'credentials'],
  projections: [...CORE],
  reactions: [...CORE, 'commands', 'projections'],
  http: [...CORE, 'commands', 'projections'],
  wiring: [...CORE, 'scoring', 'reports', 'adapter', 'commands', 'projections', 'reactions', 'http'],
  maintenance: [...CORE, 'commands', 'projections', 'reactions', 'wiring'],
  cli: [...CORE, 'commands', 'projections', 'reactions', 'scoring', 'maintenance', 'wiring'],
}

/** Whether a module stands in a room, or is main. */
export const hasRoom = (path: string): boolean => path === 'main.ts' || (path.includes('/') && layerOf(path) in ALLOWED)

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

/** Events are declared with their schemas. */
const OF_DOMAIN: ReadonlySet<string> = new Set(['zod'])

function mayImport(layer: string, name: string): boolean {
  if (!isOfSrc(name)) return layer !== 'domain' || OF_DOMAIN.has(name)
  const other = layerOf(name)
  if (other === 'adapter') return layer === 'adapter' || layer === 'wiring'
  const allowed = ALLOWED[layer]
  return allowed === undefined || other === layer || allowed.includes(other)
}

/** Modules, and the tables in JSON beside them; not packages. */
const isOfSrc = (name: string) => /\.(?:ts|json)$/.test(name) && !name.startsWith('..')

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
