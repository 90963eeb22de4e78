import { parentPort, workerData } from 'node:worker_threads'
import { drawStone } from '../domain/scoring/picture/picture.ts'
import { ImpossibleProportions } from '../domain/scoring/cut/proportions.ts'
import { solidOfCut, traceCut, traceReference } from '../domain/scoring/cut/trace-cut.ts'
import { encodePng } from './png.ts'
import { lowerPriority } from '../runtime/low-priority.ts'
import type { Answer, Task } from './trace-jobs.ts'

if (workerData.lowPriority === true) lowerPriority()

/** Answers each task in turn; a cut that can't be is an answer, not the thread's end. */
parentPort?.on('message', (task: Task) => parentPort?.postMessage(answer(task)))

function answer(task: Task): Answer {
  try {
    return done(task)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { kind: error instanceof ImpossibleProportions ? 'impossible' : 'failed', message }
  }
}

function done(task: Task): Answer {
  if (task.kind === 'trace') {
    return { kind: 'traced', traced: task.cut === 'reference' ? traceReference() : traceCut(task.cut) }
  }
  const { cut, lighting, size } = task.order
  return { kind: 'drawn', png: encodePng(drawStone(solidOfCut(cut).solid, lighting, size)) }
}
