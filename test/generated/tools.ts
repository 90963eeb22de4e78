import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../docs/blocks.ts'

/** The folder of these tests; what they make goes into its `.tmp`. */
export const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const MADE = join(FOLDER, '.tmp')

/** Makes Python clients; from PyPI. */
const GENERATOR = 'openapi-python-client==0.29.1'

/** How often something that comes over the network is tried. */
const ATTEMPTS = 3

/**
 * Installs the packages of this folder, unless they are there.
 * @returns a function that runs one of their programs; undefined where they can't be installed, which it prints
 */
export async function programs() {
  const isThere =
    existsSync(join(FOLDER, 'node_modules/.package-lock.json')) || (await tried('npm', ['ci', '--silent']))
  if (!isThere) return leftOut('the packages of test/generated can not be installed')
  return (name: string, args: readonly string[], cwd: string) =>
    run(join(FOLDER, 'node_modules/.bin', name), args, { cwd, env: QUIET })
}

/** Redocly's program otherwise looks for updates of itself, and reports how it is used. */
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

/**
 * Python with openapi-python-client in a place of its own, which is made when it is first asked for.
 * @returns the folder of its programs; undefined where it can't be installed, which it prints
 */
export async function pythonPrograms(): Promise<string | undefined> {
  const place = join(MADE, GENERATOR)
  const bin = join(place, 'bin')
  if (existsSync(join(bin, 'openapi-python-client'))) return bin
  mkdirSync(MADE, { recursive: true })
  const isMade =
    (await run('python3', ['-m', 'venv', place], { env: {}, cwd: FOLDER })).code === 0 &&
    (await tried(join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', GENERATOR]))
  return isMade ? bin : leftOut(`${GENERATOR} can not be installed`)
}

async function tried(program: string, args: readonly string[]): Promise<boolean> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++)
    if ((await run(program, args, { env: {}, cwd: FOLDER })).code === 0) return true
  return false
}

function leftOut(why: string): undefined {
  console.log(`LEFT OUT: generated clients, since ${why}`)
  return undefined
}
