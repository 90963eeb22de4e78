import type { Endpoint } from '../../src/http/kit/endpoint.ts'
import { routerFor, createRouters } from '../../src/http/routers.ts'

export type FoundRoute<Service> = {
  readonly endpoint: Endpoint<Service>
  /** The API version in its path, if any. */
  readonly version: string | undefined
}

/** Finds the endpoint for a request with the service's own routers. */
export function routeFinder<Service>(endpoints: readonly Endpoint<Service>[]) {
  const routers = createRouters(endpoints, () => async () => undefined)
  return (method: string, path: string): FoundRoute<Service> | undefined => {
    const matched = routerFor(routers, path)?.match(path, method)
    const [best] = matched?.path ?? []
    const route = matched?.pathAndMethod.find((one) => one.path === best?.path)
    const endpoint = endpoints.find(({ operationId }) => operationId === route?.name)
    return endpoint && { endpoint, version: /^\/(v[34])\//.exec(path)?.[1] }
  }
}
