import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { edited } from './contributing-examples/edits.ts'
import { EXAMPLES } from './contributing-examples/examples.ts'
import { run } from './docs/blocks.ts'

const PROJECT = fileURLToPath(new URL('../', import.meta.url))
const contributing = readFileSync(join(PROJECT, 'CONTRIBUTING.md'), 'utf8')
const test = suite("CONTRIBUTING.md's examples")

const sectionOf = (title: string) => new RegExp(`^## ${title}\n([^]*?)(?=^## )`, 'm').exec(contributing)?.[1] ?? ''
/** In the table of "How far things reach": the rows, in the order of the examples. */
const COUNTED = [
  'a dictionary field',
  'a command on a diamond, with its endpoint',
  'a read model, with who reads it',
  'a store',
]
const countOf = (what: string) => Number(new RegExp(`^\\| ${what} +\\| (\\d+) +\\|$`, 'm').exec(contributing)?.[1])

for (const [index, { title, edits }] of EXAMPLES.entries()) {
  test(`"${title}" takes the files that it says, and as many as it says`, () => {
    const files = new Set(edits.map(({ file }) => file))
    assert.is(files.size, countOf(COUNTED[index] ?? ''))
    for (const file of files) {
      // Of a new file the section names the one that shows what it looks like.
      const isNamed = sectionOf(title).includes(`\`${file}\``)
      assert.ok(isNamed || !existsSync(join(PROJECT, file)), `${file} is not named`)
    }
  })
}

test('compile, all of them at once, written as their steps say', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-examples-'))
  try {
    for (const name of ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json']) {
      cpSync(join(PROJECT, name), join(folder, name), { recursive: true })
    }
    symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
    for (const edit of EXAMPLES.flatMap(({ edits }) => edits)) {
      const path = join(folder, edit.file)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, edited(edit, existsSync(path) ? readFileSync(path, 'utf8') : undefined))
    }
    const tsc = join(PROJECT, 'node_modules/typescript/bin/tsc')
    const words = ['--noEmit', '-p', 'tsconfig.build.json']
    const { out, code } = await run(process.execPath, [tsc, ...words], { env: {}, cwd: folder })
    assert.equal([code, out], [0, ''])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.run()
