import type Database from 'better-sqlite3'
import type { FieldValue, ModelDeclaration } from '../../ports/read-store.ts'
import { list, quoted } from './schema.ts'

/** Changes to kept counts, gathered over a batch: each combination of values is written once. */
export type Counting = {
  add(values: readonly FieldValue[], change: 1 | -1): void
  /** Writes what was gathered, and starts afresh. */
  flush(): void
  /** Forgets what was gathered, for a transaction that failed. */
  forget(): void
}

/** @returns undefined for a model that declares no counts */
export function countingOf(db: Database.Database, { counts }: ModelDeclaration): Counting | undefined {
  if (counts.length === 0) return undefined
  const places = counts.map(() => '?').join(', ')
  const same = counts.map((name) => `${quoted(name)} = ?`).join(' AND ')
  const change = db.prepare(
    `INSERT INTO counts (${list(counts)}, documents) VALUES (${places}, ?)
     ON CONFLICT DO UPDATE SET documents = documents + excluded.documents`,
  )
  const removeEmpty = db.prepare(`DELETE FROM counts WHERE ${same} AND documents = 0`)
  const changes = new Map<string, { readonly values: readonly FieldValue[]; sum: number }>()
  return {
    add(values, step) {
      const key = JSON.stringify(values)
      const entry = changes.get(key)
      if (entry === undefined) changes.set(key, { values, sum: step })
      else entry.sum += step
    },
    flush() {
      for (const { values, sum } of changes.values()) {
        if (sum !== 0) change.run(...values, sum)
        if (sum < 0) removeEmpty.run(...values)
      }
      changes.clear()
    },
    forget: () => changes.clear(),
  }
}
