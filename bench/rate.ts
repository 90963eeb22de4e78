import type { Bench, Measurement } from './group.ts'
import type { BenchRequest } from './request.ts'
import { requestText } from './request.ts'
import type { MeasuredService } from './services/service.ts'

/** Measures requests per second with the requests in turn over a number of connections. */
export function measureRate(
  bench: Bench,
  service: Pick<MeasuredService, 'port'> & Partial<MeasuredService>,
  connections: number,
  requests: readonly BenchRequest[],
): Measurement {
  const texts = requests.map((request) => requestText(service, request))
  return async () => {
    const load = { port: service.port, connections, seconds: bench.seconds, requests: texts }
    return (await bench.generator.measure(load)).rate
  }
}
