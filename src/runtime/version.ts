import { readFileSync } from 'node:fs'

const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** The platform's version, semantic versioning 2.0: package.json is the one place it is written. */
export const VERSION: string = versionOf(manifest)

function versionOf(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'version' in value && typeof value.version === 'string') {
    return value.version
  }
  throw new Error('package.json has no version')
}
