import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format, resolveConfig } from 'prettier'

/** Writes a value as JSON, formatted with the project's Prettier settings. */
export async function writeJson(url: URL, value: unknown): Promise<void> {
  const file = fileURLToPath(url)
  writeFileSync(file, await format(JSON.stringify(value), { ...(await resolveConfig(file)), filepath: file }))
}
