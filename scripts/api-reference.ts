/** Generates docs/api/ from the endpoints declared in src/http: `npm run docs:api`. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { apiPages } from './api-reference/pages.ts'

const folder = new URL('../docs/api/', import.meta.url)
mkdirSync(folder, { recursive: true })
for (const file of readdirSync(folder)) rmSync(new URL(file, folder))
for (const [file, text] of await apiPages()) writeFileSync(new URL(file, folder), text)
