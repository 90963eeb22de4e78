import { parentPort, workerData } from 'node:worker_threads'
import { drawLook } from '../domain/scoring/picture/picture.ts'
import { ImpossibleProportions } from '../domain/scoring/cut/proportions.ts'
import { solidOfCut, traceCut, traceReference } from '../domain/scoring/cut/trace-cut.ts'
import { NoStone } from '../domain/scoring/mesh/mesh.ts'
import { UnreadableMesh } from './meshes/draft.ts'
import { encodePng } from './png.ts'
import { lowerPriority } from '../runtime/priority.ts'
import { inspectModel, solidOfModel, traceModel } from './stone-body.ts'
import type { Answer, Task } from './trace-jobs.ts'

if (workerData.lowPriority === true) lowerPriority()

/** Answers each task in turn; a cut that can't be is an answer, not the thread's end. */
parentPort?.on('message', (task: Task) => parentPort?.postMessage(answer(task)))

function answer(task: Task): Answer {
  try {
    return done(task)
  } catch (error) {
    return { kind: kindOf(error), message: error instanceof Error ? error.message : String(error) }
  }
}

function kindOf(error: unknown): 'impossible' | 'no-stone' | 'failed' {
  if (error instanceof ImpossibleProportions) return 'impossible'
  return error instanceof NoStone || error instanceof UnreadableMesh ? 'no-stone' : 'failed'
}

function done(task: Task): Answer {
  switch (task.kind) {
    case 'trace':
      return { kind: 'traced', traced: task.cut === 'reference' ? traceReference() : traceCut(task.cut) }
    case 'trace-model':
      return { kind: 'traced', traced: traceModel(task.bytes, task.fold) }
    case 'inspect':
      return { kind: 'inspected', shape: inspectModel(task.bytes) }
    case 'draw': {
      const { pictured, look } = task.order
      const solid = 'cut' in pictured ? solidOfCut(pictured.cut).solid : solidOfModel(pictured.model)
      return { kind: 'drawn', png: encodePng(drawLook(solid, look)) }
    }
  }
}
