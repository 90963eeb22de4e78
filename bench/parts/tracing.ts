import { resolve } from 'node:path'
import { modelledShapes, type Cut } from '../../src/optics/cut/cut.ts'
import { traceCut } from '../../src/optics/cut/trace-cut.ts'
import { quantile } from '../../scripts/scores-check/designs.ts'
import { stonesByLot } from '../../scripts/scores-check/full-tracing.ts'
import { fullTracing } from '../../scripts/scores-check/plain-tracer/full-tracing.ts'

type Trace = (cut: Cut) => unknown

/** What is compared with: another checkout, given by its folder, or full tracing. */
const other = process.argv[2]
const full: Trace =
  other === undefined
    ? (cut) => traceCut(cut, fullTracing)
    : ((await import(`${resolve(other)}/src/optics/cut/trace-cut.ts`)) as { readonly traceCut: Trace }).traceCut

/** Milliseconds of processor time to trace a cut. */
function measureTracing(cut: Cut, trace: Trace): number {
  const before = process.cpuUsage()
  trace(cut)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const stones = stonesByLot()
// The code is compiled while the first stones are traced.
for (const cut of stones.slice(0, 10)) for (const trace of [full, traceCut]) trace(cut)

const measured = stones.map((cut) => {
  const [before, quick] = [measureTracing(cut, full), measureTracing(cut, traceCut)]
  return { shape: cut.shape, before, quick, ratio: quick / before }
})

console.log('| shape | before, ms | now, ms | ratio, median | 95th percentile |\n| --- | --- | --- | --- | --- |')
for (const shape of [...modelledShapes, undefined]) {
  const rows = measured.filter((row) => shape === undefined || row.shape === shape)
  const column = (name: 'before' | 'quick' | 'ratio', fraction = 0.5) =>
    quantile(
      rows.map((row) => row[name]),
      fraction,
    )
  const times = [column('before').toFixed(0), column('quick').toFixed(1)]
  const ratios = [column('ratio'), column('ratio', 0.95)].map((ratio) => `1/${(1 / ratio).toFixed(1)}`)
  console.log(`| ${[shape ?? `all ${rows.length}`, ...times, ...ratios].join(' | ')} |`)
}
