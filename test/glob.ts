import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'

/** Installed packages (test/mutation), and files that run in a copy of the project (test/contributing-examples). */
const LEFT_OUT = /node_modules|contributing-examples[\\/]/

/** The paths of every *.test.ts below a folder, sorted. */
export function globSync(folder: URL): string[] {
  const root = fileURLToPath(folder)
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && !LEFT_OUT.test(name))
    .sort()
    .map((name) => join(root, name))
}
