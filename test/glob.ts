import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'

/** Every *.test.ts below a folder, sorted, as paths; not those of packages that are installed there (test/mutation). */
export function globSync(folder: URL): string[] {
  const root = fileURLToPath(folder)
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .sort()
    .map((name) => join(root, name))
}
