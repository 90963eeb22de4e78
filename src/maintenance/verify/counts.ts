import { setTimeout as pause } from 'node:timers/promises'
import { comparePositions } from '../../stores/ports/event-store.ts'
import type { FieldValue, ReadModel, Where } from '../../stores/ports/read-store.ts'
import type { Differences } from './differences.ts'
import type { FreshModel } from './fresh-model.ts'

type Counting = { readonly model: ReadModel; readonly fresh: FreshModel; readonly found: Differences }

/** Looks for a count that is that of the model's position, and milliseconds between two: MongoDB has counts before documents. */
const LOOKS = 100
const PAUSE = 10

/**
 * Compares the counts that are kept of documents, by whose values lists tell their totals.
 * @returns how many were compared
 */
export async function compareCounts({ model, fresh, found }: Counting): Promise<number> {
  const { name } = fresh.projection.declaration
  const counted = await countedValues(fresh)
  for (const where of counted) {
    const wrong = await wrongCount(model, fresh, where)
    if (wrong === undefined) continue
    const values = Object.entries(where).map(([field, value]) => `${field} ${String(value)}`)
    const what = `its count of documents with ${values.join(', ')} is ${wrong.live}, where there are ${wrong.folded}`
    found.add({ where: name, what, do: `npx adamant rebuild ${name}` })
  }
  return counted.length
}

/** Every combination of values by which documents are counted. */
async function countedValues({ build, projection: { declaration } }: FreshModel): Promise<Where[]> {
  const { counts } = declaration
  if (counts.length === 0) return []
  const seen = new Map<string, Where>()
  for await (const page of build.walk([])) {
    for (const { document } of page) {
      const values = counts.map((field): [string, FieldValue] => [field, document[field] ?? ''])
      seen.set(JSON.stringify(values), Object.fromEntries(values))
    }
  }
  return [...seen.values()]
}

type Wrong = { readonly live: number; readonly folded: number }

/** Undefined where the count is what it should be. */
async function wrongCount(model: ReadModel, fresh: FreshModel, where: Where): Promise<Wrong | undefined> {
  let wrong: Wrong | undefined
  for (let look = 0; look < LOOKS; look++) {
    const position = await model.position()
    const live = await model.count(where)
    if (comparePositions(position, await model.position()) === 0 && comparePositions(fresh.position, position) <= 0) {
      await fresh.foldTo(position)
      const folded = await fresh.model.count(where)
      if (live === folded) return undefined
      wrong = { live, folded }
    }
    await pause(PAUSE)
  }
  return wrong
}
