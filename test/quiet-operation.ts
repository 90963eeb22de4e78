import type { Operation } from '../src/maintenance/operation.ts'

/** What an operation is given where nobody looks at its progress. */
export const quietOperation = (signal = new AbortController().signal): Operation => ({
  report: { startStep: () => ({ update: () => undefined, end: () => undefined }), note: () => undefined },
  signal,
})
