import type { Metric } from '../runtime/metrics.ts'
import type { AppLogger } from '../runtime/logger.ts'
import { settlesWithin } from '../runtime/deadline.ts'
import type { RunCounters } from '../projections/engine/loop.ts'

/**
 * Milliseconds for each stage of the shutdown, in order: request handling and background work, then what they use, then
 * the stores. Applies even if stores are unavailable; the sum is well under 10 s.
 */
const STAGE_TIMEOUTS_MS = { requests: 5_500, dependencies: 1_500, stores: 1_500 } as const

export type ServicePart = {
  readonly stage: keyof typeof STAGE_TIMEOUTS_MS
  /** Shown in the log if it fails to stop. */
  readonly name: string
  readonly stop: () => Promise<unknown>
  /** Run counters of its background work. */
  readonly counters?: () => readonly RunCounters[]
}

export class ServiceParts {
  readonly #parts: ServicePart[] = []
  #closing: Promise<void> | undefined

  constructor(private readonly log: AppLogger) {}

  /** To be called right after opening: a later step may fail. */
  add(part: ServicePart): void {
    this.#parts.push(part)
  }

  metrics(): Metric[] {
    return this.#parts.flatMap(({ counters = () => [] }) => counters().flatMap(runCounters))
  }

  /** Closes everything, once. Never rejects: failures and timeouts are logged, and the rest is closed. */
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
    this.log.warn({ part: name, milliseconds }, 'a part of the service did not stop in time; no longer waiting for it')
  }
}

function runCounters({ name, runs, failures }: RunCounters): Metric[] {
  const labels = { work: name }
  const stem = `adamant_work_${name.replaceAll(/\W/g, '_')}`
  return [
    { name: `${stem}_runs_total`, help: `Started runs of ${name}`, kind: 'counter', value: runs },
    { name: `${stem}_failures_total`, help: `Failed runs of ${name}`, kind: 'counter', value: failures },
    { name: 'adamant_work_runs_total', help: 'Started runs of background work', kind: 'counter', value: runs, labels },
    {
      name: 'adamant_work_failures_total',
      help: 'Failed runs of background work',
      kind: 'counter',
      value: failures,
      labels,
    },
  ]
}
