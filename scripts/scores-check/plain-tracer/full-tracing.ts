import type { Tracing } from '../../../src/optics/cut/trace-cut.ts'
import { openPlainTracer } from './plain-tracer.ts'

/** Tracing in double precision with more rays, followed longer, as model 4.0.1 traced all stones. */
export const fullTracing: Tracing = {
  tracer: openPlainTracer(),
  faceUpCutOff: 0.01,
  returnCutOff: 0.001,
  samples: 8_192,
  fineness: 1,
}
