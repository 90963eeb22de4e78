import type { Cut } from '../domain/scoring/cut.ts'
import type { TracedCut } from '../domain/scoring/trace-cut.ts'

/** What is asked of a tracing thread. */
export type TraceRequest = { readonly id: number; readonly cut: Cut | 'reference' }

/** Its answer; `error` is the message of an ImpossibleProportions. */
export type TraceAnswer = { readonly id: number } & ({ readonly traced: TracedCut } | { readonly error: string })
