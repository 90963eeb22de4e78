import type { Bench, Measurement } from './group.ts'
import type { Ask } from './request.ts'
import { requestText } from './request.ts'
import type { Service } from './services/service.ts'

/** Measures requests per second with the requests in turn over a number of connections. */
export function rateOf(
  bench: Bench,
  service: Pick<Service, 'port'> & Partial<Service>,
  connections: number,
  asks: readonly Ask[],
): Measurement {
  const requests = asks.map((ask) => requestText(service, ask))
  return async () => {
    const load = { port: service.port, connections, seconds: bench.seconds, requests }
    return (await bench.generator.measure(load)).rate
  }
}
