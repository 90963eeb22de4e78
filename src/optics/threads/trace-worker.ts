import { parentPort, workerData } from 'node:worker_threads'
import { drawPicture } from '../picture/picture.ts'
import { ImpossibleProportions } from '../cut/proportions.ts'
import { solidOfCut, traceCut, traceReference } from '../cut/trace-cut.ts'
import { InvalidMesh } from '../mesh/mesh.ts'
import { encodePng } from './png.ts'
import { lowerPriority } from '../../runtime/priority.ts'
import { inspectModel, solidOfModel, traceModel } from '../stone-model-tracing.ts'
import type { TraceOutcome, TraceResult, TraceTask } from './trace-messages.ts'

if (workerData.lowPriority === true) lowerPriority()

/** Handles one task at a time. Errors are returned as results, so that the thread keeps running. */
parentPort?.on('message', (task: TraceTask) => parentPort?.postMessage(handleTask(task)))

function handleTask(task: TraceTask): TraceOutcome {
  try {
    return { kind: 'done', result: runTask(task) }
  } catch (error) {
    return { kind: kindOf(error), message: error instanceof Error ? error.message : String(error) }
  }
}

function kindOf(error: unknown): 'impossible' | 'no-stone' | 'failed' {
  if (error instanceof ImpossibleProportions) return 'impossible'
  return error instanceof InvalidMesh ? 'no-stone' : 'failed'
}

function runTask(task: TraceTask): TraceResult {
  switch (task.kind) {
    case 'trace':
      return task.cut === 'reference' ? traceReference() : traceCut(task.cut)
    case 'trace-model':
      return traceModel(task.bytes, task.fold)
    case 'inspect':
      return inspectModel(task.bytes)
    case 'draw': {
      const { subject, kind } = task.request
      const solid = 'cut' in subject ? solidOfCut(subject.cut).solid : solidOfModel(subject.model)
      return encodePng(drawPicture(solid, kind))
    }
  }
}
