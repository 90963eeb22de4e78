/**
 * Traces every shape in every cut grade, and the reference, on all cores, and writes src/domain/scoring/table.ts: the same
 * bytes on every run. Run it after any change to the model, then raise the model's version.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { format } from 'prettier'
import { cutKey, grades, modelledShapes, type Cut } from '../src/domain/scoring/cut/cut.ts'
import { openTracePool } from '../src/scoring/trace-pool.ts'

const started = performance.now()
const cuts: Cut[] = modelledShapes.flatMap((shape) =>
  grades.map((grade) => ({ shape, grade, polish: grade, symmetry: grade })),
)
const pool = openTracePool({ threads: availableParallelism() })
let traced = 0
const count = <Result>(result: Result): Result => {
  process.stderr.write(`\r${++traced} of ${cuts.length + 1} cuts traced`)
  return result
}
const [reference, ...entries] = await Promise.all([
  pool.traceInWorker('reference').then(count),
  ...cuts.map(async (cut) => [cutKey(cut), count(await pool.traceInWorker(cut))] as const),
])
await pool.close()

const table = Object.fromEntries(entries)
const digest = createHash('sha256').update(JSON.stringify({ reference, table })).digest('hex').slice(0, 8)
const source = `import type { TracedCut } from './cut/trace-cut.ts'

// Made by \`npm run scores:build\`: what the tracer finds for each shape and cut grade. Not to be edited.

export const tableHash = '${digest}'

export const reference: TracedCut = ${JSON.stringify(reference)}

export const table: Readonly<Record<string, TracedCut>> = ${JSON.stringify(table)}
`
const file = new URL('../src/domain/scoring/table.ts', import.meta.url)
writeFileSync(file, await format(source, { parser: 'typescript', semi: false, singleQuote: true, printWidth: 120 }))
console.log(`\n${entries.length + 1} cuts in ${((performance.now() - started) / 1000).toFixed(1)} s, table ${digest}`)
