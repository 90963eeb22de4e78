import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { filesOf, writeExample } from './contributing-examples/example.ts'
import { EXAMPLES } from './contributing-examples/examples.ts'
import { run, type ProgramResult } from './docs/blocks.ts'

const PROJECT = fileURLToPath(new URL('../', import.meta.url))

/** The parts of the project that its checks, its tests and its generators need. */
const COPIED = [
  'src',
  'test',
  'scripts',
  'bench',
  'docs',
  'data',
  'README.md',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  '.oxlintrc.json',
  '.prettierrc.json',
  '.prettierignore',
]

/** The generators that the steps tell the reader to run, and their output. */
const GENERATED = {
  'test/events/record-bodies.ts': 'test/events/golden-bodies.json',
  'scripts/events-page.ts': 'docs/events.md',
  'scripts/api-reference.ts': 'docs/api',
}

const bin = (file: string) => join(PROJECT, 'node_modules', file)

/** A copy of the project with all examples applied. */
class ProjectCopy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'adamant-examples-'))
  #generated: Promise<void> | undefined
  #tests: Promise<ProgramResult> | undefined

  constructor() {
    for (const name of COPIED) {
      const filter = (from: string) => !/^(?:node_modules|\.tmp)$/.test(basename(from))
      cpSync(join(PROJECT, name), join(this.#folder, name), { recursive: true, filter })
    }
    symlinkSync(join(PROJECT, 'node_modules'), join(this.#folder, 'node_modules'))
    for (const example of EXAMPLES) writeExample(example, this.#folder)
  }

  node(...words: readonly string[]): Promise<ProgramResult> {
    return run(process.execPath, words, { env: { FORCE_COLOR: '0' }, cwd: this.#folder })
  }

  /** Runs the generators. */
  generate(): Promise<void> {
    return (this.#generated ??= this.#runGenerators())
  }

  /** Runs all tests of the examples in one run. */
  testResults(): Promise<ProgramResult> {
    return (this.#tests ??= this.#runTests())
  }

  async #runGenerators(): Promise<void> {
    for (const script of Object.keys(GENERATED)) {
      const { code, err } = await this.node('--import', 'tsx', script)
      assert.is(code, 0, `${script}: ${err}`)
    }
  }

  async #runTests(): Promise<ProgramResult> {
    await this.generate()
    // The command line's tests run the built program. Another test checks types.
    await this.node(bin('typescript/bin/tsc'), '-p', 'tsconfig.build.json', '--noCheck')
    const files = new Set(EXAMPLES.flatMap(({ tests }) => tests))
    return this.node('--import', 'tsx', 'test/run.ts', ...files)
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true })
  }
}

type Given = { copy: ProjectCopy }
const test = suite<Given>("CONTRIBUTING.md's examples")
test.before((given) => {
  given.copy = new ProjectCopy()
})
test.after(({ copy }: Partial<Given>) => copy?.remove())

test('compile', async ({ copy }) => {
  const { out, code } = await copy.node(bin('typescript/bin/tsc'))
  assert.equal([code, out], [0, ''])
})

test('pass the linter and the formatter', async ({ copy }) => {
  await copy.generate()
  const files = [...EXAMPLES.flatMap(filesOf), ...Object.values(GENERATED)]
  const linted = await copy.node(bin('oxlint/bin/oxlint'), '--deny-warnings')
  assert.is(linted.code, 0, linted.out)
  const formatted = await copy.node(bin('prettier/bin/prettier.cjs'), '--check', ...new Set(files))
  assert.is(formatted.code, 0, formatted.out + formatted.err)
})

for (const { title, tests } of EXAMPLES) {
  test(`"${title}" passes its tests`, async ({ copy }) => {
    const { out, err } = await copy.testResults()
    const reports = out.split(/^(?=ok {3}|FAIL |\nFailed)/m)
    for (const file of tests) {
      const outcome = reports.find((part) => part.startsWith(`ok   ${file} `) || part.startsWith(`FAIL ${file} `))
      assert.ok(outcome?.startsWith('ok'), outcome ?? `${file} did not run:\n${out}${err}`)
    }
  })
}

test.run()
