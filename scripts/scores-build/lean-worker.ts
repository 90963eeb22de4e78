import { parentPort } from 'node:worker_threads'
import { grades, type Cut } from '../../src/optics/cut/cut.ts'
import type { LeanFigure } from '../../src/optics/cut/lean.ts'
import { perturbSolid } from '../../src/optics/cut/perturbation.ts'
import { traceSolid } from '../../src/optics/cut/trace-cut.ts'
import { compareFaces } from '../../src/optics/light/face-up.ts'
import { solidOrNull } from '../scores-check/designs.ts'
import { fullTracing } from '../scores-check/plain-tracer/full-tracing.ts'

export type LeanTask = { readonly cut: Cut; readonly pattern: number }

/** For each grade of symmetry and polish, the figures with tilted facets relative to those without; null for impossible proportions. */
export type LeanResult = readonly Readonly<Record<LeanFigure, number>>[] | null

parentPort?.on('message', (task: LeanTask) => parentPort?.postMessage(measureLean(task)))

function measureLean({ cut, pattern }: LeanTask): LeanResult {
  const solid = solidOrNull(cut)
  if (solid === null) return null
  const ideal = traceSolid(solid, null, fullTracing)
  return grades.map((grade) => {
    const tilted = traceSolid(perturbSolid(solid, grade, grade, pattern).solid, null, fullTracing)
    return {
      brilliance: compareFaces(tilted, ideal, ideal.frame),
      fire: tilted.fire / ideal.fire,
      faceup: tilted.brightness / ideal.brightness,
      avg: tilted.weighted / ideal.weighted,
    }
  })
}
