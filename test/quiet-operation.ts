import type { Operation } from '../src/maintenance/operation.ts'

/** The context of an operation whose progress is not reported. */
export const quietOperation = (signal = new AbortController().signal): Operation => ({
  report: { startStep: () => ({ update: () => undefined, end: () => undefined }), note: () => undefined },
  signal,
})
