import type { Generator } from './load/generator.ts'
import type { Adamant } from './services/adamant.ts'
import type { Service } from './services/service.ts'

/** Measures once and answers with a figure in the case's unit. */
export type Measurement = () => Promise<number>

/** One line of the table. */
export type Case = {
  readonly name: string
  readonly unit: 'requests/s' | 'us' | 'MB'
  readonly ours: Measurement
  /** What ours is compared with; without it the figure is only recorded. */
  readonly other?: Measurement
  /** Bound of ours / other; without one the ratio is only recorded. */
  readonly target?: { readonly least: number } | { readonly most: number }
}

/** What a group may use. Services are fresh, and end with the group. */
export type Bench = {
  readonly generator: Generator
  /** How long one measurement lasts. */
  readonly seconds: number
  /** @param settings of its environment, beside the usual ones */
  adamant(settings?: NodeJS.ProcessEnv): Promise<Adamant>
  plain(): Promise<Service>
  /** Runs at the group's end, whatever became of it; the last one told of first. */
  finally(end: () => Promise<void>): void
}

/** Cases that share their services and what these are filled with. One file each in cases/, listed in cases/all.ts. */
export type Group = {
  readonly name: string
  /** True for what takes minutes: runs only when it is named. */
  readonly long: boolean
  prepare(bench: Bench): Promise<readonly Case[]>
}
