import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { eventsPage } from '../../scripts/events-page/page.ts'

const test = suite('docs/events.md')

test('matches the events in src/events; `npm run docs:events` updates it', async () => {
  const written = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8')
  assert.fixture(written, await eventsPage())
})

test.run()
