/** Generates docs/events.md from the event declarations: `npm run docs:events`. */
import { writeFileSync } from 'node:fs'
import { eventsPage } from './events-page/page.ts'

writeFileSync(new URL('../docs/events.md', import.meta.url), await eventsPage())
