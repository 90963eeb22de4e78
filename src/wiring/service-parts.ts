import type { Metric } from '../runtime/metrics.ts'
import type { AppLogger } from '../runtime/logger.ts'
import { settlesWithin } from '../runtime/deadline.ts'
import type { RunCounters } from '../projections/engine/loop.ts'

/**
 * In this order a service closes: what answers and what works by itself, then what these ask, then the stores. Each stage
 * has so many milliseconds, whatever is away: together well under 10 s.
 */
const STAGE_TIMEOUTS_MS = { requests: 5_500, views: 1_500, stores: 1_500 } as const

export type ServicePart = {
  readonly stage: keyof typeof STAGE_TIMEOUTS_MS
  /** For the log, where it does not end. */
  readonly name: string
  readonly stop: () => Promise<unknown>
  /** What its work did so far. */
  readonly figures?: () => readonly RunCounters[]
}

/** What a service has opened so far. */
export class ServiceParts {
  readonly #parts: ServicePart[] = []
  #closing: Promise<void> | undefined

  constructor(private readonly log: AppLogger) {}

  /** Right after it was opened: what comes next may fail. */
  add(part: ServicePart): void {
    this.#parts.push(part)
  }

  /** Counters of each work that is done again and again. */
  metrics(): Metric[] {
    return this.#parts.flatMap(({ figures = () => [] }) => figures().flatMap(runCounters))
  }

  /** Closes all, once. It never rejects: what fails or takes too long is told to the log, and the rest goes on. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    for (const stage of Object.keys(STAGE_TIMEOUTS_MS) as ServicePart['stage'][]) {
      const parts = this.#parts.filter((part) => part.stage === stage)
      await Promise.all(parts.map((part) => this.#stop(part)))
    }
  }

  async #stop({ name, stage, stop }: ServicePart): Promise<void> {
    const milliseconds = STAGE_TIMEOUTS_MS[stage]
    const stopping = Promise.resolve()
      .then(stop)
      .catch((error: unknown) => this.log.warn({ err: error, part: name }, 'a part of the service failed to stop'))
    if (await settlesWithin(stopping, milliseconds)) return
    this.log.warn({ part: name, milliseconds }, 'a part of the service did not stop in time; ending without it')
  }
}

function runCounters({ name, runs, failures }: RunCounters): Metric[] {
  const labels = { work: name }
  const stem = `adamant_work_${name.replaceAll(/\W/g, '_')}`
  return [
    { name: `${stem}_runs_total`, help: `Runs of ${name} that were begun`, kind: 'counter', value: runs },
    { name: `${stem}_failures_total`, help: `Runs of ${name} that failed`, kind: 'counter', value: failures },
    { name: 'adamant_work_runs_total', help: 'Runs that were begun, by work', kind: 'counter', value: runs, labels },
    {
      name: 'adamant_work_failures_total',
      help: 'Runs that failed, by work',
      kind: 'counter',
      value: failures,
      labels,
    },
  ]
}
