import { spawnSync } from 'node:child_process'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const PROJECT = fileURLToPath(new URL('..', import.meta.url))

type Given = {
  folder: string
  source(path: string, text: string): void
  /** @returns the exit code */
  build(): number | null
}
const test = suite<Given>('a build')

/** A project with the build and the packages of this one, and two source files. */
test.before.each((given) => {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-build-'))
  for (const path of ['scripts', 'package.json', 'tsconfig.json', 'tsconfig.build.json']) {
    cpSync(join(PROJECT, path), join(folder, path), { recursive: true })
  }
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
  given.folder = folder
  given.source = (path, text) => {
    mkdirSync(dirname(join(folder, 'src', path)), { recursive: true })
    writeFileSync(join(folder, 'src', path), text)
  }
  given.build = () => spawnSync(process.execPath, ['scripts/build.js'], { cwd: folder, stdio: 'ignore' }).status
  given.source('main.ts', `import { NAME } from './room/name.ts'\nconsole.log(NAME)\n`)
  given.source('room/name.ts', `export const NAME = 'before'\n`)
  assert.is(given.build(), 0)
})
test.after.each(({ folder }) => rmSync(folder, { recursive: true }))

test('makes the program executable', ({ folder }) => {
  assert.is(statSync(join(folder, 'dist/main.js')).mode & 0o111, 0o111)
})

test('does not disturb open readers and leaves unchanged files alone', (given) => {
  const { folder, source, build } = given
  const [main, name] = ['dist/main.js', 'dist/room/name.js'].map((path) => join(folder, path)) as [string, string]
  const [before, same] = [readFileSync(name, 'utf8'), statSync(main)]
  const reading = openSync(name, 'r')
  try {
    source('room/name.ts', `export const NAME = 'afterwards'\n`)
    assert.is(build(), 0)
    assert.is(readFileSync(reading, 'utf8'), before)
  } finally {
    closeSync(reading)
  }
  assert.match(readFileSync(name, 'utf8'), 'afterwards')
  assert.equal([statSync(main).ino, statSync(main).mtimeMs], [same.ino, same.mtimeMs])
})

test('removes files that no longer have a source', ({ folder, source, build }) => {
  rmSync(join(folder, 'src/room'), { recursive: true })
  source('main.ts', `console.log('alone')\n`)
  assert.is(build(), 0)
  assert.equal(readdirSync(join(folder, 'dist')), ['main.js'])
})

test('that fails leaves the output unchanged and no temporary files', ({ folder, source, build }) => {
  const before = readFileSync(join(folder, 'dist/room/name.js'), 'utf8')
  source('room/name.ts', `export const NAME: number = 'wrong'\n`)
  assert.is.not(build(), 0)
  assert.is(readFileSync(join(folder, 'dist/room/name.js'), 'utf8'), before)
  assert.equal(readdirSync(join(folder, '.tmp')), [])
})

test('can run concurrently with another one', async ({ folder, source }) => {
  source('room/name.ts', `export const NAME = 'of both'\n`)
  const words = ['-c', 'node scripts/build.js & node scripts/build.js && wait $!']
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` }
  assert.is(spawnSync('sh', words, { cwd: folder, stdio: 'ignore', env }).status, 0)
  assert.ok(existsSync(join(folder, 'dist/main.js')))
  assert.equal(readdirSync(join(folder, '.tmp')), [])
})

test.run()
