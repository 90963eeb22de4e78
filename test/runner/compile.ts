import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The initial size of V8's young generation, MiB: growing to it takes 5% of the tests' time. */
const YOUNG = '--min-semi-space-size=16'

const root = fileURLToPath(new URL('../../', import.meta.url))
const COMPILER = join(root, 'node_modules/typescript/bin/tsc')

/** Import specifiers stay as written, and source maps let errors name source lines. */
const OPTIONS = {
  noEmit: false,
  noCheck: true,
  sourceMap: true,
  rewriteRelativeImportExtensions: false,
  allowImportingTsExtensions: false,
}

export type CompiledSources = {
  /** Node arguments that make it load the compiled files. */
  readonly words: readonly string[]
  /** The folder of the compiled files, also for Node's compile cache. */
  readonly folder: string
}

/**
 * Compiles the sources, the tests and the benchmark once for all processes, into a folder that is deleted when this
 * process ends. It doesn't check types; `npm run check` does.
 * @returns undefined if the compiler failed; it has then printed the syntax errors
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
