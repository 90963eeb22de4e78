import { readFileSync } from 'node:fs'

const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** The release, by semantic versioning 2.0, from package.json. */
export const VERSION: string = versionOf(manifest)

function versionOf(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'version' in value && typeof value.version === 'string') {
    return value.version
  }
  throw new Error('package.json has no version')
}

/**
 * The oldest Node that better-sqlite3 13 supports; on older ones it crashes with a segmentation fault
 * (WiseLibs/better-sqlite3#1514).
 */
const MIN_NODE_VERSION = [22, 14]

/**
 * An error message of one line if Node is too old, otherwise undefined.
 * @param version of process.versions: `20.20.2`, `26.0.0-nightly20260401`
 * @param program path of the running Node
 */
export function unsupportedNodeMessage(version: string, program: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = MIN_NODE_VERSION
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined
  return (
    `adamant needs Node ${MIN_NODE_VERSION.join('.')} or newer, and ${program} is Node ${version}: install a newer one ` +
    '(https://nodejs.org), or put node_modules/.bin first in PATH in a folder where npm ci ran: it has the Node that npm ci ' +
    'installed'
  )
}
