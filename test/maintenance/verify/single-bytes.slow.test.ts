import type Database from 'better-sqlite3'
import { isDeepStrictEqual } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isLeaf, SIZE_KEY } from '../../../src/projections/tree/merkle-tree.ts'
import { areEmbedded } from '../../engines.ts'
import { inFile, InstallationFiles } from './installation-files.ts'
import { verifyFolder } from './verify-folder.ts'

const test = suite<{ files: InstallationFiles }>('verify after a change of a single byte')
test.before(async (context) => {
  context.files = new InstallationFiles()
  if (areEmbedded) await context.files.fill()
})
test.after(({ files }) => files.remove())

const CHANGES = process.env['ADAMANT_FULL'] === '1' ? 1_000 : 36

/** Seeded numbers, so that each run makes the same changes. */
function seededRandom(): (below: number) => number {
  let state = 20_261_123
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

type RandomInteger = (below: number) => number
type Row = Readonly<Record<string, string | number | Buffer>>

/** Makes a change. @returns its description for the failure message; undefined if nothing changed */
type Change = (db: Database.Database, below: RandomInteger) => string | undefined

/** Changes one bit of one character. */
function otherText(text: string, below: RandomInteger): string {
  const at = below(text.length)
  const code = text.charCodeAt(at) ^ (1 << below(5))
  return `${text.slice(0, at)}${String.fromCharCode(code)}${text.slice(at + 1)}`
}

const isSameJson = (one: string, other: string) => {
  try {
    return isDeepStrictEqual(JSON.parse(one), JSON.parse(other))
  } catch {
    return false
  }
}

/** Changes a column of an event in the tree. The tree omits events that a move does not copy. */
const inEvent: Change = (db, below) => {
  const rows = db.prepare('SELECT * FROM events').all() as Row[]
  const leaves = rows.filter(({ stream }) => isLeaf({ stream: String(stream) }))
  const row = leaves[below(leaves.length)] as Row
  const column = ['data', 'metadata', 'data', 'metadata', 'type', 'stream', 'id'][below(7)] ?? ''
  const before = row[column] ?? ''
  const after = typeof before === 'object' ? otherBlob(before as Buffer, below) : otherText(String(before), below)
  if (String(before) === String(after) || isSameJson(String(before), String(after))) return undefined
  const { changes } = db
    .prepare(`UPDATE OR IGNORE events SET ${column} = ? WHERE position = ?`)
    .run(after, row['position'])
  // The update is ignored if the other stream already has this revision.
  if (changes === 0) return undefined
  return `${column} of ${row['stream']}@${row['revision']}: ${String(before)} is ${String(after)}`
}

function otherBlob(blob: Buffer, below: RandomInteger): Buffer {
  const other = Buffer.from(blob)
  const at = below(other.length)
  other[at] = (other[at] ?? 0) ^ (1 << below(8))
  return other
}

/** Swaps the positions of two events, or changes the revision of one. */
const inOrder: Change = (db, below) => {
  const positions = db
    .prepare('SELECT position FROM events WHERE stream NOT IN (?, ?)')
    .pluck()
    .all('stores', 'copy') as number[]
  const one = positions[below(positions.length)] ?? 0
  if (below(3) === 0) {
    db.prepare('UPDATE events SET revision = revision + 1000 WHERE position = ?').run(one)
    return `revision of ${one}`
  }
  const other = positions[below(positions.length)] ?? 0
  if (one === other) return undefined
  const move = db.prepare('UPDATE events SET position = ? WHERE position = ?')
  move.run(-1, one)
  move.run(one, other)
  move.run(other, -1)
  return `positions ${one} and ${other}`
}

const inTree: Change = (db, below) => {
  const rows = db.prepare('SELECT * FROM documents').all() as Row[]
  const row = rows[below(rows.length)] as Row
  const column = ['hashes', 'hashes', 'size', 'commit', 'places'][below(5)] ?? ''
  const before = row[column] ?? ''
  if (before === '') return undefined
  const after = typeof before === 'number' ? before + 1 + below(9) : otherText(String(before), below)
  db.prepare(`UPDATE documents SET "${column}" = ? WHERE id = ?`).run(after, row['id'])
  return `${column} of document ${row['id']} of the tree: ${String(before)} is ${String(after)}`
}

const KINDS: readonly (readonly [begins: string, change: Change])[] = [
  ['events', inEvent],
  ['events', inEvent],
  ['events', inOrder],
  ['read-tree', inTree],
]

/** Whether the change is found, by verify or because the installation does not open. */
async function isFound(folder: string): Promise<boolean> {
  try {
    return !(await verifyFolder(folder)).ok
  } catch {
    return true
  }
}

test('relies on a tree that contains every event once the service has stopped', ({ files }) => {
  if (!areEmbedded) return console.log('NOTE: not run on these engines: it reads files of the embedded stores')
  const leaves = inFile(files.whole, 'events', (db) =>
    (db.prepare('SELECT stream FROM events').all() as { stream: string }[]).filter(isLeaf),
  )
  const size = inFile(files.whole, 'read-tree', (db) =>
    db.prepare('SELECT size FROM documents WHERE id = ?').pluck().get(SIZE_KEY),
  )
  assert.is(size, leaves.length)
})

test('finds the change in events, in their order and in the tree', async ({ files }) => {
  if (!areEmbedded) return console.log('NOTE: not run on these engines: it damages files of the embedded stores')
  const below = seededRandom()
  const missed: string[] = []
  for (let made = 0; made < CHANGES;) {
    const [begins, change] = KINDS[made % KINDS.length] ?? ['events', inEvent]
    const folder = files.copy()
    const what = inFile(folder, begins, (db) => change(db, below))
    if (what !== undefined) {
      made++
      if (!(await isFound(folder))) missed.push(what)
    }
    files.drop(folder)
  }
  assert.equal(missed, [])
})

test.run()
