import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/adamant/', import.meta.url))

/** Attempts to build; the modules are downloaded, which may fail. */
const ATTEMPTS = 3

/**
 * Builds FerretDB from main.go, unless it was built before.
 * @returns the path of the program; undefined if Go is not installed or its modules cannot be downloaded, with the reason on stderr
 */
export function builtFerretDB(): string | undefined {
  const sources = ['main.go', 'go.mod', 'go.sum'].map((name) => readFileSync(join(folder, name)))
  const program = join(
    CACHE,
    `ferretdb-${createHash('sha256').update(Buffer.concat(sources)).digest('hex').slice(0, 12)}`,
  )
  if (existsSync(program)) return program
  mkdirSync(CACHE, { recursive: true })
  const part = `${program}.${process.pid}`
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const { status, error } = spawnSync('go', ['build', '-trimpath', '-o', part, '.'], {
      cwd: folder,
      stdio: 'inherit',
    })
    if (error !== undefined) return undefined
    if (status !== 0) continue
    renameSync(part, program)
    return program
  }
  return undefined
}
