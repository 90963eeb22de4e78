import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { eventsPage } from '../../scripts/events-page/page.ts'

const test = suite('docs/events.md')

test('tells the events as src/events has them; `npm run docs:events` writes it', async () => {
  const written = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8')
  assert.fixture(written, await eventsPage())
})

test.run()
