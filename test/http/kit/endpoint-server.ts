import type { Endpoint } from '../../../src/http/kit/endpoint.ts'
import { koaOf, listenerOf } from '../../../src/http/kit/koa.ts'
import { listen, type Listening } from '../../../src/http/kit/server.ts'

export type EndpointServer = Listening & {
  readonly url: string
  /** What the log was told. */
  readonly faults: readonly unknown[]
}

/** Runs with a server of these endpoints alone, on a port of its own. */
export async function withEndpoints<Service>(
  endpoints: readonly Endpoint<Service>[],
  services: Service,
  run: (server: EndpointServer) => Promise<void>,
  trustProxy = 0,
): Promise<void> {
  const faults: unknown[] = []
  const listener = listenerOf(koaOf(endpoints, services, { log: (error) => void faults.push(error), trustProxy }))
  const server = await listen(() => listener, '127.0.0.1', 0)
  try {
    await run({ ...server, url: `http://127.0.0.1:${server.port}`, faults })
  } finally {
    await server.stop()
  }
}
