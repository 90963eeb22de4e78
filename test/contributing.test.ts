import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { filesOf, newFiles, sourcesOf } from './contributing-examples/example.ts'
import { EXAMPLES } from './contributing-examples/examples.ts'

const test = suite('the guides for contributors:')
const root = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const contributing = readFileSync(root('CONTRIBUTING.md'), 'utf8')

const sectionOf = (title: string) => new RegExp(`^## ${title}\n([^]*?)(?=^## )`, 'm').exec(contributing)?.[1] ?? ''

/** The items of a section's numbered list, with the lines indented below them. */
const stepsIn = (section: string) =>
  [...section.matchAll(/^\d+\. .*(?:\n(?: .*)?(?=\n|$))*/gm)].map(([step]) => step).join('\n')

/** Paths from the project's root in backticks. A path has a folder or a file extension. */
const filesIn = (text: string) =>
  [...new Set([...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)*\/?)`/g)].map(([, path = '']) => path))].filter((path) =>
    /\/|\.(?:ts|js|md|json)$/.test(path),
  )

const NUMBERS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven']

const countOf = (row: string) => Number(new RegExp(`^\\| ${row} +\\| (\\d+) +\\|$`, 'm').exec(contributing)?.[1])

/** Whether the section names the new file's folder, a file in the same folder, or a file in a sibling folder. */
const isInNamedFolder = (named: readonly string[], file: string) =>
  named.some((path) =>
    path.endsWith('/')
      ? file.startsWith(path)
      : dirname(path) === dirname(file) || dirname(dirname(path)) === dirname(dirname(file)),
  )

for (const example of EXAMPLES) {
  const { title, row } = example
  const section = sectionOf(title)
  const sources = sourcesOf(example).length

  test(`"${title}" changes as many source files as its section and the table say`, () => {
    assert.match(section, `: ${NUMBERS[sources]} source files.`)
    assert.is(countOf(row), sources)
  })

  test(`"${title}" names existing files, and at most ${sources} source files in its steps`, () => {
    const steps = filesIn(stepsIn(section)).filter((file) => file.startsWith('src/'))
    assert.ok(steps.length > 0, `CONTRIBUTING.md has no numbered steps under "## ${title}" that name sources`)
    assert.ok(steps.length <= sources, `${steps.length} source files: ${steps.join(', ')}`)
    for (const file of filesIn(section)) assert.ok(existsSync(root(file)), `${file} does not exist`)
  })

  test(`"${title}" names each file that its example changes, and the folders of new files`, () => {
    const named = filesIn(section)
    const added = newFiles(example)
    for (const file of filesOf(example)) {
      const isNamed = added.includes(file) ? isInNamedFolder(named, file) : named.includes(file)
      assert.ok(isNamed, `${file} is not named`)
    }
  })
}

/** The numbered lists of docs/architecture.md, by their heading. */
for (const [lifecycle, most] of [
  ['Request lifecycle', 25],
  ['Event lifecycle', 15],
] as const) {
  test(`"${lifecycle}" passes through at most ${most} files`, () => {
    const text = readFileSync(root('docs/architecture.md'), 'utf8')
    const [, section = ''] = new RegExp(`^## ${lifecycle}\n([^]*?)(?=^## )`, 'm').exec(text) ?? []
    const steps = [...section.matchAll(/^\d+\. `(src\/[\w./-]+)`/gm)].map(([, path = '']) => path)
    assert.ok(steps.length > 10, `${steps.length} steps`)
    assert.ok(steps.length <= most, `${steps.length} steps`)
    for (const file of steps) assert.ok(existsSync(root(file)), `${file} does not exist`)
  })
}

test.run()
