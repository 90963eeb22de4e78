import type { NewStone, StoneUpdate } from '../domain/certification/stated-report.ts'
import type { NewDiamond } from '../domain/diamond/fields.ts'
import type { UsableLine } from './findings.ts'
import type { KnownStock } from './known-stones.ts'

/** Maximum number of stones that are written atomically. */
export const BULK_SIZE = 500

/** One atomic step of an import, with at most BULK_SIZE stones. */
export type PlannedBulk = {
  readonly creates: readonly NewStone[]
  readonly updates: readonly StoneUpdate[]
  /** Ids of stones. */
  readonly deletes: readonly number[]
  /** The last line of the file that it covers. */
  readonly line?: number
}

export type PlannedBulks = AsyncIterable<PlannedBulk> | Iterable<PlannedBulk>

/** Creates a stone for each line. */
export async function* planCreations(lines: AsyncIterable<UsableLine>): AsyncGenerator<PlannedBulk> {
  for await (const bulk of bulksOf(lines))
    yield { creates: bulk.map(toNewStone), updates: [], deletes: [], ...lastOf(bulk) }
}

/** Updates the stone with the sku of each line, or creates it. */
export async function* planUpdates(
  lines: AsyncIterable<UsableLine>,
  stones: Pick<KnownStock, 'bySku'>,
): AsyncGenerator<PlannedBulk> {
  for await (const bulk of bulksOf(lines)) {
    const known = bulk.map((line) => ({ id: stones.bySku(line.change.set.sku ?? '')[0], line }))
    yield {
      creates: known.flatMap(({ id, line }) => (id === undefined ? [toNewStone(line)] : [])),
      updates: known.flatMap(({ id, line: { change, report } }) => (id === undefined ? [] : [{ id, change, report }])),
      deletes: [],
      ...lastOf(bulk),
    }
  }
}

/** Deletes these stones. */
export function* planDeletions(ids: readonly number[]): Generator<PlannedBulk> {
  for (let from = 0; from < ids.length; from += BULK_SIZE)
    yield { creates: [], updates: [], deletes: ids.slice(from, from + BULK_SIZE) }
}

type LineOfStone = Pick<UsableLine, 'change'> & { readonly report?: StoneUpdate['report'] | undefined }

/** The line was validated, so that it has all required fields. */
export const toNewStone = ({ change, report }: LineOfStone): NewStone => ({
  fields: change.set as NewDiamond,
  reports: report === undefined || report === null ? [] : [report],
})

const lastOf = (bulk: readonly UsableLine[]) => {
  const line = bulk.at(-1)?.line
  return line === undefined ? {} : { line }
}

/** The lines in groups of BULK_SIZE. */
export async function* bulksOf(lines: AsyncIterable<UsableLine>): AsyncGenerator<UsableLine[]> {
  let bulk: UsableLine[] = []
  for await (const line of lines) {
    bulk.push(line)
    if (bulk.length < BULK_SIZE) continue
    yield bulk
    bulk = []
  }
  if (bulk.length > 0) yield bulk
}
