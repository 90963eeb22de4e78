import type { Cut, CutMeasurements, ModelledShape } from '../../src/optics/cut/cut.ts'
import { solidOfCut } from '../../src/optics/cut/trace-cut.ts'
import { drawPicture, type PictureKind } from '../../src/optics/picture/picture.ts'
import { encodePng } from '../../src/optics/threads/png.ts'

const KINDS: readonly PictureKind[] = ['face-up', 'aset', 'rocked']

/** Stones with individual measurements, as in reports. */
const STONES: readonly (readonly [ModelledShape, CutMeasurements])[] = [
  ['Round', { tablePct: 57, depthPct: 61.3, crownAngle: 34.6, pavilionAngle: 40.9, girdlePct: 3.2 }],
  ['Oval', { tablePct: 58, depthPct: 62, girdlePct: 3.2, lengthToWidth: 1.41 }],
  ['Princess', { tablePct: 70, depthPct: 73, lengthToWidth: 1.02 }],
  ['Emerald', { tablePct: 62, depthPct: 66, lengthToWidth: 1.41 }],
  ['CushionBrilliant', { tablePct: 60, depthPct: 66, lengthToWidth: 1.1 }],
  ['Pear', { tablePct: 60, depthPct: 62, lengthToWidth: 1.5 }],
]

const ROUNDS = 3

/** Milliseconds of CPU time from a cut to its PNG file, over all threads. */
function measureDrawing(cut: Cut, kind: PictureKind): number {
  const before = process.cpuUsage()
  encodePng(drawPicture(solidOfCut(cut).solid, kind))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const toCut = (shape: ModelledShape, measured: CutMeasurements): Cut => ({
  shape,
  grade: 'Very Good',
  polish: 'Excellent',
  symmetry: 'Very Good',
  measured,
})

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN

const [first] = STONES
if (first !== undefined) console.log(`first picture: ${measureDrawing(toCut(...first), 'face-up').toFixed(0)} ms`)
console.log(`| shape | ${KINDS.join(' | ')} |\n| --- | --- | --- | --- |`)
for (const [shape, measured] of STONES) {
  const times = KINDS.map((kind) =>
    median(Array.from({ length: ROUNDS }, () => measureDrawing(toCut(shape, measured), kind))).toFixed(0),
  )
  console.log(`| ${shape} | ${times.join(' | ')} |`)
}
