import type { LoadGenerator } from './load/generator.ts'
import type { Adamant } from './services/adamant.ts'
import type { MeasuredService } from './services/service.ts'

/** Measures once and returns a figure in the case's unit. */
export type Measurement = () => Promise<number>

export type Limit = { readonly min: number } | { readonly max: number }

/** One line of the result table. */
export type Case = {
  readonly name: string
  readonly unit: 'requests/s' | 'us' | 'MB'
  readonly ours: Measurement
  /** The figure to compare with. Without it, `ours` is only recorded. */
  readonly baseline?: Measurement
  /** For ours / baseline. Without it, the ratio is only recorded. */
  readonly target?: Limit
  /** For the figure itself. */
  readonly limit?: Limit
}

/** Resources for a group. Services are new and stopped at the end of the group. */
export type Bench = {
  readonly generator: LoadGenerator
  /** Seconds per measurement. */
  readonly seconds: number
  /** @param settings additional environment variables */
  adamant(settings?: NodeJS.ProcessEnv): Promise<Adamant>
  /** @param settings additional environment variables */
  baseline(settings?: NodeJS.ProcessEnv): Promise<MeasuredService>
  /** Runs at the end of the group, also after an error, in reverse order. */
  finally(cleanup: () => Promise<void>): void
}

/** Cases that share services and their data. One file each in cases/, listed in cases/all.ts. */
export type CaseGroup = {
  readonly name: string
  /** Takes minutes; runs only if it is named. */
  readonly isLong: boolean
  prepare(bench: Bench): Promise<readonly Case[]>
}
