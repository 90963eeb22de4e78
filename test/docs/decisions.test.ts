import { readdirSync, readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const folder = new URL('../../docs/decisions/', import.meta.url)
const textOf = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const names = readdirSync(folder).filter((name) => name !== 'README.md')

const test = suite('the decision records')

for (const name of names) {
  test(`have the standard sections: ${name}`, () => {
    const text = textOf(name)
    assert.match(name, /^\d{4}(-[a-z0-9]+)+\.md$/)
    assert.match(text, new RegExp(`^# ${name.slice(0, 4)}: .+\n\nStatus: .+\n\n`))
    const sections = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)
    const known = ['Context', 'Decision', 'Alternatives', 'Consequences']
    const expected = known.filter((title) => title !== 'Alternatives' || sections.includes(title))
    assert.equal(sections, expected, 'sections and their order')
  })
}

test('are numbered without gaps', () => {
  const numbers = names.toSorted().map((name) => Number(name.slice(0, 4)))
  assert.equal(
    numbers,
    numbers.map((_, index) => index + 1),
  )
})

test('are all in the index with their title and status', () => {
  const rows = [...textOf('README.md').matchAll(/^\| \[(\d{4})\]\((.+?)\) *\| (.+?) *\| (.+?) *\|$/gm)]
  const listed = rows.map(([, , name, title, status]) => ({ name, title, status }))
  const written = names.toSorted().map((name) => {
    const [, title, status] = /^# \d{4}: (.+)\n\nStatus: (.+)\n/.exec(textOf(name)) ?? []
    return { name, title, status }
  })
  assert.equal(listed, written)
})

test('refer only to existing records', () => {
  for (const name of names) {
    for (const [link] of textOf(name).matchAll(/(?<=\(|`|docs\/decisions\/)\d{4}-[a-z0-9-]+\.md/g)) {
      assert.ok(names.includes(link), `${name} names ${link}`)
    }
  }
})

test.run()
