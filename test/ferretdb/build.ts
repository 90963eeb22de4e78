import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/adamant/', import.meta.url))

/** How often a build is tried: its modules come over the network. */
const ATTEMPTS = 3

/**
 * The path of FerretDB, built from main.go where that has not been done yet.
 * @returns undefined where there is no Go, or where its modules can't be fetched; the reason is on stderr
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
