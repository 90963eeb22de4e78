import type { Settings } from './settings.ts'
import { withoutCredentials } from './store-addresses.ts'

const KEYS: ReadonlySet<string> = new Set(['MASTER_KEY', 'MASTER_KEY_OLD'])

/** Settings as logs may have them: of a key whether it is set, of an address neither user, password nor options. */
export const toldSettings = (settings: Settings): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, told(name, value)]))

function told(name: string, value: unknown): unknown {
  if (KEYS.has(name)) return value === undefined ? 'not set' : 'set'
  if (value instanceof Set) return [...(value as ReadonlySet<unknown>)]
  return typeof value === 'string' && value.includes('://') ? withoutCredentials(value) : (value ?? null)
}
