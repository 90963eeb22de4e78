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

/** The files and folders that a document names: paths from the root in backticks, and link targets. */
function referencedPaths(document: string): string[] {
  const text = readFileSync(root(document), 'utf8')
  const quoted = [...text.matchAll(/`((?:src|test|docs|bench|ops|scripts|data)\/[\w./-]+)`/g)].map(
    ([, path = '']) => path,
  )
  const linked = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, target = '']) =>
    decodeURI(new URL(target, `file:///${document}`).pathname.slice(1)),
  )
  return [...new Set([...quoted, ...linked])]
}

/** The anchors that GitHub generates for a page's headings. */
function anchorsOf(document: string): Set<string> {
  const text = readFileSync(root(document), 'utf8').replaceAll(/^```[^]*?^```$/gm, '')
  const anchors = new Set<string>()
  for (const [, title = ''] of text.matchAll(/^#+ (.+)$/gm)) {
    const anchor = title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-')
    const again = [...anchors].filter((one) => one.replace(/-\d+$/, '') === anchor).length
    anchors.add(again === 0 ? anchor : `${anchor}-${again}`)
  }
  return anchors
}

/** Links with an anchor to a page of the project. */
function anchorLinks(document: string): { readonly link: string; readonly page: string; readonly anchor: string }[] {
  const text = readFileSync(root(document), 'utf8')
  return [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].map(([, target = '', anchor = '']) => {
    const page = target === '' ? document : decodeURI(new URL(target, `file:///${document}`).pathname.slice(1))
    return { link: `${target}#${anchor}`, page, anchor }
  })
}

const test = suite('the documents')

for (const document of documents) {
  test(`name only existing files of the project: ${document}`, () => {
    const missing = referencedPaths(document).filter((path) => !existsSync(root(path)))
    assert.equal(missing, [])
  })

  test(`link only to existing headings: ${document}`, () => {
    const lost = anchorLinks(document).filter(
      ({ page, anchor }) => page.endsWith('.md') && !anchorsOf(page).has(anchor),
    )
    assert.equal(
      lost.map(({ link }) => link),
      [],
    )
  })
}

test('are all listed in docs/README.md, which README links to', () => {
  const listed = new Set(referencedPaths('docs/README.md'))
  const lacking = [...documents, 'docs/requests.http', 'docs/api/README.md', 'docs/decisions/README.md']
    .filter((document) => document !== 'docs/README.md' && document !== 'README.md')
    .filter((document) => !listed.has(document))
  assert.equal(lacking, [])
  assert.ok(referencedPaths('README.md').includes('docs/README.md'))
})

test('mention each file in ops/', () => {
  const text = ['README.md', 'docs/runbook.md', 'docs/operations.md']
    .map((name) => readFileSync(root(name), 'utf8'))
    .join('\n')
  const files = ['', 'prometheus/', 'grafana/'].flatMap((folder) =>
    readdirSync(root(`ops/${folder}`), { withFileTypes: true })
      .filter((entry) => entry.isFile() && !/^entrypoint\.sh$|^master\.key$/.test(entry.name))
      .map(({ name }) => `ops/${folder}${name}`),
  )
  const lacking = files.filter((file) => !text.includes(file))
  assert.equal(lacking, [])
})

test.run()
