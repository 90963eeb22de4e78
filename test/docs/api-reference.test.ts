import { readdirSync, readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { apiPages } from '../../scripts/api-reference/pages.ts'

const test = suite('docs/api')

const folder = new URL('../../docs/api/', import.meta.url)

test('tells the endpoints as src/http declares them; `npm run docs:api` writes it', async () => {
  const pages = await apiPages()
  assert.equal(readdirSync(folder).toSorted(), pages.map(([file]) => file).toSorted())
  for (const [file, text] of pages) assert.fixture(readFileSync(new URL(file, folder), 'utf8'), text, file)
})

test('leads from the contents to each heading, and from each type to where it stands', async () => {
  const pages = new Map(await apiPages())
  for (const [file, text] of pages) {
    for (const [, target = '', anchor = ''] of text.matchAll(/\]\(([\w.-]*)#([\w-]+)\)/g)) {
      const headings = [...(pages.get(target) ?? '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => slug(heading))
      assert.ok(headings.includes(anchor), `${file} leads to ${target}#${anchor}, which is not there`)
    }
  }
})

/** As code hosts make it: letters, digits, `_` and `-` stay, a blank becomes `-`. */
const slug = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-')

test.run()
