import type { Endpoint } from '../../../src/http/kit/endpoint.ts'
import type { ErrorLogger } from '../../../src/http/kit/errors.ts'
import { createApp } from '../../../src/http/app.ts'
import { listen, type ListeningServer } from '../../../src/http/kit/server.ts'

export type EndpointServer = ListeningServer & {
  readonly url: string
  /** The logged errors. */
  readonly faults: readonly unknown[]
  /** The operation ids logged with them. */
  readonly failed: readonly (string | undefined)[]
}

/** Runs with a server of only these endpoints. */
export async function withEndpoints<Service>(
  endpoints: readonly Endpoint<Service>[],
  services: Service,
  run: (server: EndpointServer) => Promise<void>,
  trustProxy = 0,
): Promise<void> {
  const faults: unknown[] = []
  const failed: (string | undefined)[] = []
  const log: ErrorLogger = (error, _requestId, _status, endpoint) => {
    faults.push(error)
    failed.push(endpoint)
  }
  const app = createApp(endpoints, services, { log, trustProxy })
  const server = await listen(app.callback(), { host: '127.0.0.1', port: 0 })
  try {
    await run({ ...server, url: `http://127.0.0.1:${server.port}`, faults, failed })
  } finally {
    await server.stop()
  }
}
