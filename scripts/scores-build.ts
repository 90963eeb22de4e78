/**
 * Finds what leaning facets take off (src/domain/scoring/cut/lean-factors.json), chooses what nobody publishes of each shape and grade
 * (cut/unpublished.json), traces every shape in every grade and the reference (traced-cuts.json), and finds how far stones are from what is known of
 * them (drawn-errors.json), on all cores: the same bytes on every run, in some twenty minutes. Run it after any change to the model, then raise
 * the model's version. Arguments name parts that are to be built alone: lean, stones, table, errors; each rests on those before it. Names of shapes
 * among them (Pear) build rows of those shapes alone, and leave the others as they are: for a shape that is new.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { cutGrades, cutKey, modelledShapes, type ModelledShape } from '../src/domain/scoring/cut/cut.ts'
import { leanTable } from '../src/domain/scoring/cut/lean.ts'
import { unpublishedProportions as chosenBefore } from '../src/domain/scoring/cut/proportions.ts'
import { sampledErrorMargins } from '../src/domain/scoring/error-margins.ts'
import { tracedCuts as tracedBefore } from '../src/domain/scoring/score.ts'
import { openTracePool, type TracePool } from '../src/scoring/trace-pool.ts'
import { errorRowsOf } from './scores-build/error-rows.ts'
import { leanTableOf } from './scores-build/lean-factors.ts'
import { unpublishedOf } from './scores-build/unpublished.ts'
import { plain } from './scores-check/designs.ts'

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
  write('cut/lean-factors.json', linesOf(besideKept(found, leanTable)))
  return `${shapes.length} shapes`
}

async function buildStones(): Promise<string> {
  const chosen = await onAllCores((pool) =>
    Promise.all(shapes.map(async (shape) => [shape, await unpublishedOf(shape, pool)] as const)),
  )
  write('cut/unpublished.json', linesOf(besideKept(Object.fromEntries(chosen), chosenBefore)))
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
  const head = JSON.stringify({ hash, reference }).slice(0, -1)
  write('traced-cuts.json', `${head},"cuts":${linesOf(table)}}`)
  return hash
}

async function buildErrors(): Promise<string> {
  // What this process read when it started may have been chosen anew since.
  const unpublished = JSON.parse(readFileSync(fileOf('cut/unpublished.json'), 'utf8')) as typeof chosenBefore
  const rows = await onAllCores((pool) =>
    Promise.all(shapes.map(async (shape) => [shape, await errorRowsOf(shape, unpublished[shape], pool)] as const)),
  )
  write('drawn-errors.json', linesOf(besideKept(Object.fromEntries(rows), sampledErrorMargins)))
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

function fileOf(path: string): URL {
  return new URL(`../src/domain/scoring/${path}`, import.meta.url)
}

/** A line for each row, so that a change shows which rows it is in. */
function linesOf(rows: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(rows).map(([name, row]) => `${JSON.stringify(name)}:${JSON.stringify(row)}`)
  return `{\n${lines.join(',\n')}\n}`
}

function write(path: string, text: string): void {
  writeFileSync(fileOf(path), `${text}\n`)
}
