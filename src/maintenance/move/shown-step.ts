import { Failed } from '../operation.ts'
import { progressBar } from '../../cli/progress-bar.ts'
import type { StopSignal } from '../../cli/stop-signal.ts'

/** What a step of the move is called, and how much of what it has to do, as far as that is known. */
export type Step = { readonly label: string; readonly expected: number; readonly unit: string }

/**
 * Does a step and shows how far it is, where there is anything to do.
 * @throws Failed at the next report after somebody wants the command to stop
 */
export async function shownStep<Result>(
  signal: StopSignal,
  { label, expected, unit }: Step,
  work: (progress: (done: number) => void) => Promise<Result>,
): Promise<Result> {
  const bar = expected === 0 ? undefined : progressBar(label, expected, unit)
  try {
    return await work((done) => {
      mustGoOn(signal)
      bar?.update(done)
    })
  } finally {
    bar?.end()
  }
}

/** @throws Failed where somebody wants the command to stop */
export function mustGoOn({ came }: StopSignal): void {
  if (came) throw new Failed('Stopped. Run the same command again, and it goes on where it was')
}
