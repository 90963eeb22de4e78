import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** A program and the environment variables that it needs. */
export type Program = { readonly path: string; readonly env: Readonly<Record<string, string>> }

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/adamant-browser', import.meta.url))

/**
 * The Chromium that npm ci installs, with the libraries and the font that a machine without a desktop lacks; undefined
 * except on Linux x64. The package unpacks into TMPDIR and assumes that existing files there are complete. So it unpacks
 * into a temporary folder that is renamed at the end: two suites may do so at once, and one may be killed.
 */
export async function bundledChromium(): Promise<Program | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const folder = join(CACHE, await bundledVersion())
  if (!existsSync(folder)) await unpackTo(folder)
  return {
    path: join(folder, 'chromium'),
    env: { LD_LIBRARY_PATH: join(folder, 'al2023/lib'), FONTCONFIG_FILE: join(folder, 'fonts.conf') },
  }
}

async function bundledVersion(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  const manifest: unknown = JSON.parse(await readFile(join(dirname(entry), '../../package.json'), 'utf8'))
  return String((manifest as { version: unknown }).version)
}

/** The package unpacks its libraries only if it detects AWS Lambda. */
const AS_ON_LAMBDA = { AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' }
const UNPACK = `const { default: chromium } = await import('@sparticuz/chromium'); await chromium.executablePath()`

async function unpackTo(folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  const part = mkdtempSync(join(CACHE, 'part-'))
  try {
    const env = { ...process.env, ...AS_ON_LAMBDA, TMPDIR: part }
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', UNPACK], {
      env,
      cwd: import.meta.dirname,
    })
    chmodSync(join(part, 'chromium'), 0o755)
    writeFileSync(join(part, 'fonts.conf'), fontsIn(folder))
    renameSync(part, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(part, { recursive: true, force: true })
  }
}

/** A Fontconfig with only the package's font, so that pages look the same on every machine. */
const fontsIn = (folder: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts/fonts')}</dir>
  <cachedir>${join(folder, 'fonts/cache')}</cachedir>
</fontconfig>
`
