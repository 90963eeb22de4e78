/**
 * Generates the data of the scoring model, on all cores: the factors of tilted facets (src/optics/cut/lean-factors.json), the
 * proportions that are not published by shape and grade (cut/unpublished.json), the traced cuts of every shape and grade, of the
 * bundled data set's rounds and of the reference (traced-cuts.json), and the error margins (drawn-errors.json). The first two, and the
 * true scores that the margins are about, are traced in full, the others as the service traces. Deterministic; takes about 45 minutes.
 * Run it after any change to the model, then raise the model's version.
 *
 * Arguments select parts: lean, stones, table, errors; each depends on the ones before it. Names of shapes (Pear) limit the build to the
 * rows of these shapes, for a new shape.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { cutGrades, cutKey, modelledShapes, type Cut, type ModelledShape } from '../src/optics/cut/cut.ts'
import { leanTable } from '../src/optics/cut/lean.ts'
import { ImpossibleProportions, unpublishedProportions as existingProportions } from '../src/optics/cut/proportions.ts'
import type { TracedCut } from '../src/optics/cut/trace-cut.ts'
import { sampledErrorMargins } from '../src/optics/error-margins.ts'
import { errorRowsOf } from './scores-build/error-rows.ts'
import { withTracers } from './scores-build/tracers.ts'
import { leanTableOf } from './scores-build/lean-factors.ts'
import { chooseUnpublished } from './scores-build/unpublished.ts'
import { defaultCut } from './scores-check/designs.ts'
import { datasetCuts } from './scores-check/stones.ts'

const started = performance.now()

const parts = { lean: buildLean, stones: buildStones, table: buildTable, errors: buildErrors }
const args = process.argv.slice(2)
const isShape = (word: string) => modelledShapes.some((shape) => shape === word)
const unknownArgs = args.filter((word) => !Object.hasOwn(parts, word) && !isShape(word))
if (unknownArgs.length > 0)
  throw new Error(`${unknownArgs.join(', ')}: must be one of ${Object.keys(parts).join(', ')} or a shape`)
const isFullBuild = !args.some(isShape)
const shapes = modelledShapes.filter((shape) => isFullBuild || args.includes(shape))
const selectedParts = args.filter((word) => !isShape(word))

// Each part starts new threads, which read the files written by earlier parts.
for (const [part, build] of Object.entries(parts)) {
  if (selectedParts.length > 0 && !selectedParts.includes(part)) continue
  console.log(`${part}: ${await build()}, after ${((performance.now() - started) / 1000).toFixed(0)} s`)
}

async function buildLean(): Promise<string> {
  const found = await leanTableOf(shapes, availableParallelism())
  write('cut/lean-factors.json', toJsonLines(mergeRows(found, leanTable)))
  return `${shapes.length} shapes`
}

async function buildStones(): Promise<string> {
  const chosen = await withTracers(({ full }) =>
    Promise.all(shapes.map(async (shape) => [shape, await chooseUnpublished(shape, full)] as const)),
  )
  write('cut/unpublished.json', toJsonLines(mergeRows(Object.fromEntries(chosen), existingProportions)))
  return `${chosen.length} shapes`
}

async function buildTable(): Promise<string> {
  const existing = JSON.parse(readFileSync(fileOf('traced-cuts.json'), 'utf8')) as { cuts: Record<string, unknown> }
  const cuts = modelledShapes.flatMap((shape) => [
    ...cutGrades.map((grade) => defaultCut(shape, grade)),
    ...(shape === 'Round' ? datasetCuts() : []),
  ])
  const [reference, rows] = await withTracers(({ quick }) => {
    const rowOf = async (cut: Cut) =>
      shapes.includes(cut.shape) ? Object.values(figuresOf(await quick.traceInWorker(cut))) : existing.cuts[cutKey(cut)]
    return Promise.all([
      quick.traceInWorker('reference'),
      Promise.all(cuts.map(async (cut) => [cutKey(cut), await rowOf(cut).catch(undefinedIfImpossible)] as const)),
    ])
  })
  const table = Object.fromEntries(rows.filter(([, row]) => row !== undefined))
  const hash = createHash('sha256').update(JSON.stringify({ reference, table })).digest('hex').slice(0, 8)
  const head = JSON.stringify({ hash, reference, figures: Object.keys(figuresOf(reference)) }).slice(0, -1)
  write('traced-cuts.json', `${head},"cuts":${toJsonLines(table)}}`)
  return `${Object.keys(table).length} cuts, hash ${hash}`
}

/** What of a traced cut is in the table: `factors` follow from the cut. */
function figuresOf({ factors: _factors, ...figures }: TracedCut): Omit<TracedCut, 'factors'> {
  return figures
}

function undefinedIfImpossible(error: unknown): undefined {
  if (!(error instanceof ImpossibleProportions)) throw error
}

async function buildErrors(): Promise<string> {
  // The module's constant was loaded at the start, and buildStones may have replaced the file.
  const unpublished = JSON.parse(readFileSync(fileOf('cut/unpublished.json'), 'utf8')) as typeof existingProportions
  const rows = await withTracers((tracers) =>
    Promise.all(shapes.map(async (shape) => [shape, await errorRowsOf(shape, unpublished[shape], tracers)] as const)),
  )
  write('drawn-errors.json', toJsonLines(mergeRows(Object.fromEntries(rows), sampledErrorMargins)))
  return `${rows.length} shapes`
}

/** The rows of all shapes in order: new ones for the shapes that were built, existing ones for the others. */
function mergeRows(
  built: Readonly<Partial<Record<ModelledShape, unknown>>>,
  existing: Readonly<Record<ModelledShape, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(modelledShapes.map((shape) => [shape, built[shape] ?? existing[shape]]))
}

function fileOf(path: string): URL {
  return new URL(`../src/optics/${path}`, import.meta.url)
}

/** One line per row, for readable diffs. */
function toJsonLines(rows: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(rows).map(([name, row]) => `${JSON.stringify(name)}:${JSON.stringify(row)}`)
  return `{\n${lines.join(',\n')}\n}`
}

function write(path: string, text: string): void {
  writeFileSync(fileOf(path), `${text}\n`)
}
