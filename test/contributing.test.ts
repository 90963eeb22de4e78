import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('what CONTRIBUTING.md says about adding things')
const root = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** The worked examples, and how many source files each may take; tests and documents apart. */
const EXAMPLES = [
  ['Add a field', 3],
  ['Add a command', 4],
  ['Add a read model', 3],
  ['Add a store', 2],
] as const

/** The steps below a heading: the items of its numbered list, with what is indented below them. */
function stepsOf(title: string): string {
  const text = readFileSync(root('CONTRIBUTING.md'), 'utf8')
  const [, section = ''] = new RegExp(`^##+ ${title}\n([^]*?)(?=^##+ |(?![^]))`, 'm').exec(text) ?? []
  return [...section.matchAll(/^\d+\. .*(?:\n(?: .*)?(?=\n|$))*/gm)].map(([step]) => step).join('\n')
}

/** Paths from the root, in backticks: with a folder, or an ending at least. */
const filesIn = (text: string) =>
  [...new Set([...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)*)`/g)].map(([, path = '']) => path))].filter((path) =>
    /\/|\.(?:ts|js|md|json)$/.test(path),
  )

for (const [title, most] of EXAMPLES) {
  test(`"${title}" names files that are there, at most ${most} of them sources`, () => {
    const files = filesIn(stepsOf(title))
    const sources = files.filter((file) => file.startsWith('src/'))
    assert.ok(sources.length > 0, `CONTRIBUTING.md has no numbered steps under "## ${title}" that name sources`)
    for (const file of files) assert.ok(existsSync(root(file)), `${file} is not there`)
    assert.ok(sources.length <= most, `${sources.length} source files: ${sources.join(', ')}`)
  })
}

/** The numbered lists of docs/architecture.md, by the line above them. */
for (const [way, most] of [
  ['The way of a request', 25],
  ['The way of an event', 15],
] as const) {
  test(`"${way}" goes through at most ${most} files`, () => {
    const text = readFileSync(root('docs/architecture.md'), 'utf8')
    const [, section = ''] = new RegExp(`^## ${way}\n([^]*?)(?=^## )`, 'm').exec(text) ?? []
    const steps = [...section.matchAll(/^\d+\. `(src\/[\w./-]+)`/gm)].map(([, path = '']) => path)
    assert.ok(steps.length > 10, `${steps.length} steps`)
    assert.ok(steps.length <= most, `${steps.length} steps`)
    for (const file of steps) assert.ok(existsSync(root(file)), `${file} is not there`)
  })
}

test.run()
