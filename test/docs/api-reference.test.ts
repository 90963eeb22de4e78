import { readdirSync, readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { apiPages } from '../../scripts/api-reference/pages.ts'

const test = suite('docs/api')

const folder = new URL('../../docs/api/', import.meta.url)

test('matches the endpoints in src/http; `npm run docs:api` updates it', async () => {
  const pages = await apiPages()
  assert.equal(readdirSync(folder).toSorted(), pages.map(([file]) => file).toSorted())
  for (const [file, text] of pages) assert.fixture(readFileSync(new URL(file, folder), 'utf8'), text, file)
})

test('has only links to existing headings', async () => {
  const pages = new Map(await apiPages())
  for (const [file, text] of pages) {
    for (const [, target = '', anchor = ''] of text.matchAll(/\]\(([\w.-]*)#([\w-]+)\)/g)) {
      const headings = [...(pages.get(target) ?? '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => slug(heading))
      assert.ok(headings.includes(anchor), `${file} links to ${target}#${anchor}, which does not exist`)
    }
  }
})

/** The anchor that code hosts generate: letters, digits, `_` and `-` stay, a blank becomes `-`. */
const slug = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-')

test.run()
