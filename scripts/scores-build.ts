/**
 * Finds what leaning facets take off (src/domain/scoring/cut/lean-table.ts), chooses what nobody publishes of each shape and grade
 * (cut/unpublished.ts), traces every shape in every grade and the reference (table.ts), and finds how far stones are from what is known of
 * them (errors-table.ts), on all cores: the same bytes on every run, in some twenty minutes. Run it after any change to the model, then raise
 * the model's version. Arguments name parts that are to be built alone: lean, stones, table, errors; each rests on those before it. Names of shapes
 * among them (Pear) build rows of those shapes alone, and leave the others as they are: for a shape that is new.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { format } from 'prettier'
import { cutGrades, cutKey, modelledShapes, type ModelledShape } from '../src/domain/scoring/cut/cut.ts'
import { leanTable } from '../src/domain/scoring/cut/lean-table.ts'
import { unpublished as chosenBefore } from '../src/domain/scoring/cut/unpublished.ts'
import { drawnErrors } from '../src/domain/scoring/errors-table.ts'
import { table as tracedBefore } from '../src/domain/scoring/table.ts'
import { openTracePool, type TracePool } from '../src/scoring/trace-pool.ts'
import { errorRowsOf } from './scores-build/error-rows.ts'
import { leanTableOf } from './scores-build/lean-factors.ts'
import { unpublishedOf } from './scores-build/unpublished.ts'
import { plain } from './scores-check/designs.ts'

type Unpublished = typeof import('../src/domain/scoring/cut/unpublished.ts')

const started = performance.now()

const parts = { lean: buildLean, stones: buildStones, table: buildTable, errors: buildErrors }
const asked = process.argv.slice(2)
const isShape = (word: string) => modelledShapes.some((shape) => shape === word)
const unknown = asked.filter((word) => !Object.hasOwn(parts, word) && !isShape(word))
if (unknown.length > 0)
  throw new Error(`${unknown.join(', ')}: no part of ${Object.keys(parts).join(', ')}, and no shape`)
const isWhole = !asked.some(isShape)
const shapes = modelledShapes.filter((shape) => isWhole || asked.includes(shape))
const askedParts = asked.filter((word) => !isShape(word))

// Each part starts threads of its own, which read what the ones before have written.
for (const [part, build] of Object.entries(parts)) {
  if (askedParts.length > 0 && !askedParts.includes(part)) continue
  console.log(`${part}: ${await build()}, after ${((performance.now() - started) / 1000).toFixed(0)} s`)
}

async function buildLean(): Promise<string> {
  const found = await leanTableOf(shapes, availableParallelism())
  await write(
    'cut/lean-table.ts',
    `import type { ModelledShape } from './cut.ts'
import type { LeanFigure } from './lean-factors.ts'

// Made by \`npm run scores:build\`: what facets that lean as each grade of symmetry and polish allows leave of a shape. Not to be edited.

/** A factor for each grade, best first. */
export const leanTable: Readonly<Record<ModelledShape, Readonly<Record<LeanFigure, readonly number[]>>>> = ${JSON.stringify(besideKept(found, leanTable))}
`,
  )
  return `${shapes.length} shapes`
}

async function buildStones(): Promise<string> {
  const chosen = await onAllCores((pool) =>
    Promise.all(shapes.map(async (shape) => [shape, await unpublishedOf(shape, pool)] as const)),
  )
  await write(
    'cut/unpublished.ts',
    `import type { CutGrade, ModelledShape } from './cut.ts'

// Made by \`npm run scores:build\`: of each shape and grade the stone that stands for it. Not to be edited.

/** The crown's angle on the short side in degrees, stars and lower halves in percent of their whole way. */
export type Unpublished = readonly [crownAngle: number, star: number, lower: number]

export const unpublished: Readonly<Record<ModelledShape, Readonly<Record<CutGrade, Unpublished>>>> = ${JSON.stringify(besideKept(Object.fromEntries(chosen), chosenBefore))}
`,
  )
  return `${chosen.length} shapes`
}

async function buildTable(): Promise<string> {
  const cuts = shapes.flatMap((shape) => cutGrades.map((grade) => plain(shape, grade)))
  const [reference, ...entries] = await onAllCores((pool) =>
    Promise.all([
      pool.traceInWorker('reference'),
      ...cuts.map(async (cut) => [cutKey(cut), await pool.traceInWorker(cut)] as const),
    ]),
  )
  const traced = new Map(entries)
  const keys = modelledShapes.flatMap((shape) => cutGrades.map((grade) => cutKey(plain(shape, grade))))
  const table = Object.fromEntries(keys.map((key) => [key, traced.get(key) ?? tracedBefore[key]]))
  const hash = createHash('sha256').update(JSON.stringify({ reference, table })).digest('hex').slice(0, 8)
  await write(
    'table.ts',
    `import type { TracedCut } from './cut/trace-cut.ts'

// Made by \`npm run scores:build\`: what the tracer finds for each shape and cut grade. Not to be edited.

export const tableHash = '${hash}'

export const reference: TracedCut = ${JSON.stringify(reference)}

export const table: Readonly<Record<string, TracedCut>> = ${JSON.stringify(table)}
`,
  )
  return hash
}

async function buildErrors(): Promise<string> {
  // What this process read when it started may have been chosen anew since.
  const { unpublished } = (await import(`../src/domain/scoring/cut/unpublished.ts?${started}`)) as Unpublished
  const rows = await onAllCores((pool) =>
    Promise.all(shapes.map(async (shape) => [shape, await errorRowsOf(shape, unpublished[shape], pool)] as const)),
  )
  await write(
    'errors-table.ts',
    `import type { Basis } from './basis.ts'
import type { ModelledShape } from './cut/cut.ts'

// Made by \`npm run scores:build\`: of stones of which as much is known, eight of ten lie nearer. Not to be edited.

/** Parts of the score; spread in points of pc. */
type Row = readonly [brilliance: number, fire: number, integral: number, spread: number]

export const drawnErrors: Readonly<Record<ModelledShape, Readonly<Record<Basis, Row>>>> = ${JSON.stringify(besideKept(Object.fromEntries(rows), drawnErrors))}
`,
  )
  return `${rows.length} shapes`
}

/** Rows of all shapes in their order: those that were built now, and of the others what was there. */
function besideKept(
  built: Readonly<Partial<Record<ModelledShape, unknown>>>,
  before: Readonly<Record<ModelledShape, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(modelledShapes.map((shape) => [shape, built[shape] ?? before[shape]]))
}

async function onAllCores<Result>(run: (pool: TracePool) => Promise<Result>): Promise<Result> {
  const pool = openTracePool({ threads: availableParallelism() })
  try {
    return await run(pool)
  } finally {
    await pool.close()
  }
}

async function write(path: string, source: string): Promise<void> {
  const file = new URL(`../src/domain/scoring/${path}`, import.meta.url)
  writeFileSync(file, await format(source, { parser: 'typescript', semi: false, singleQuote: true, printWidth: 120 }))
}
