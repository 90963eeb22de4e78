import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Mebibytes that a process's young objects have from its start: growing to them is a twentieth of what tests take. */
const YOUNG = '--min-semi-space-size=16'

const root = fileURLToPath(new URL('../../', import.meta.url))
const COMPILER = join(root, 'node_modules/typescript/bin/tsc')

/** JavaScript that is read instead of its source: imports stay as they are written, and errors are told by source lines. */
const OPTIONS = {
  noEmit: false,
  noCheck: true,
  sourceMap: true,
  rewriteRelativeImportExtensions: false,
  allowImportingTsExtensions: false,
}

export type CompiledSources = {
  /** What Node is started with to read them. */
  readonly words: readonly string[]
  /** Where whatever is read compiled may be kept as long. */
  readonly folder: string
}

/**
 * Compiles the sources, the tests and the benchmark once for all processes, into a folder that goes when this process
 * ends.
 * @returns undefined when the compiler has said what in a source is not TypeScript; `npm run check` checks types
 */
export function compileOnce(): CompiledSources | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-compiled-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const places = { rootDir: root, outDir: folder, sourceRoot: new URL('../../', import.meta.url).href }
  const options = Object.entries({ ...OPTIONS, ...places }).flatMap(([name, value]) => [`--${name}`, String(value)])
  const { status } = spawnSync(process.execPath, [COMPILER, '-p', root, ...options], { stdio: 'inherit' })
  if (status !== 0) return undefined
  const loader = new URL('compiled-sources.js', import.meta.url).href
  return { words: [YOUNG, '--import', `${loader}?${encodeURIComponent(folder)}`], folder }
}
