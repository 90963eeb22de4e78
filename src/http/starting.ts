import { RequestError } from '../domain/request-error.ts'
import { ENDPOINTS } from './endpoints.ts'
import { livenessCheck } from './health/health.ts'
import { publicAccess, type Endpoint } from './kit/endpoint.ts'

/** The endpoints while the service starts: each responds 503 with Retry-After, in its format, except the liveness check. */
export const STARTING_ENDPOINTS: readonly Endpoint<unknown>[] = ENDPOINTS.map((endpoint) =>
  endpoint === livenessCheck ? livenessCheck : unavailable(endpoint),
)

function unavailable({ body: _body, ...endpoint }: Endpoint): Endpoint<unknown> {
  return {
    ...endpoint,
    auth: publicAccess,
    handler: () => {
      throw new RequestError('unavailable', 'The service is starting; try again')
    },
  }
}
