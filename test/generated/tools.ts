import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../docs/blocks.ts'

/** The folder of these tests; generated files go into its `.tmp`. */
export const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const GENERATED = join(FOLDER, '.tmp')

/** The PyPI package that generates Python clients. */
const GENERATOR = 'openapi-python-client==0.29.1'

/** Attempts per download. */
const ATTEMPTS = 3

/**
 * Installs the packages of this folder if they are missing.
 * @returns a function that runs one of their programs; undefined if they can't be installed, which it prints
 */
export async function installPrograms() {
  const isThere =
    existsSync(join(FOLDER, 'node_modules/.package-lock.json')) || (await retry('npm', ['ci', '--silent']))
  if (!isThere) return skip('the packages of test/generated cannot be installed')
  return (name: string, args: readonly string[], cwd: string) =>
    run(join(FOLDER, 'node_modules/.bin', name), args, { cwd, env: QUIET })
}

/** Turns off Redocly's update check and telemetry. */
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

/**
 * A Python environment with openapi-python-client, created on first use.
 * @returns the folder of its programs; undefined if it can't be installed, which it prints
 */
export async function installPythonPrograms(): Promise<string | undefined> {
  const place = join(GENERATED, GENERATOR)
  const bin = join(place, 'bin')
  if (existsSync(join(bin, 'openapi-python-client'))) return bin
  mkdirSync(GENERATED, { recursive: true })
  const isMade =
    (await run('python3', ['-m', 'venv', place], { env: {}, cwd: FOLDER })).code === 0 &&
    (await retry(join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', GENERATOR]))
  return isMade ? bin : skip(`${GENERATOR} cannot be installed`)
}

async function retry(program: string, args: readonly string[]): Promise<boolean> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++)
    if ((await run(program, args, { env: {}, cwd: FOLDER })).code === 0) return true
  return false
}

function skip(why: string): undefined {
  console.log(`LEFT OUT: generated clients: ${why}`)
  return undefined
}
