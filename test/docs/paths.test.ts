import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(root('docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

/** Files and folders of the project as documents name them: a path from its root in backticks, or a link's target. */
function namedIn(document: string): string[] {
  const text = readFileSync(root(document), 'utf8')
  const quoted = [...text.matchAll(/`((?:src|test|docs|bench|ops|scripts|data)\/[\w./-]+)`/g)].map(
    ([, path = '']) => path,
  )
  const linked = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, target = '']) =>
    decodeURI(new URL(target, `file:///${document}`).pathname.slice(1)),
  )
  return [...new Set([...quoted, ...linked])]
}

const test = suite('the documents')

for (const document of documents) {
  test(`name nothing of the project that is not there: ${document}`, () => {
    const missing = namedIn(document).filter((path) => !existsSync(root(path)))
    assert.equal(missing, [])
  })
}

test.run()
