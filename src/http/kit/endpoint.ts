import type Koa from 'koa'
import type { ZodType } from 'zod'
import type { WaitBudget } from '../../projections/engine/progress.ts'
import type { MinimumTransferRate } from '../../runtime/fairness/transfer-rate.ts'
import type { Html } from './html.ts'
import type { HttpResponse, ResponseHeaders } from './response.ts'
import type { ErrorDetail } from '../../domain/request-error.ts'

type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A schema, or one for each API version if they differ. */
export type VersionedSchema = ZodType | { readonly v3: ZodType; readonly v4: ZodType }

/**
 * Koa's context of a request to an endpoint. `params`, `state.principal` and `request.body` are what the endpoint declares.
 * A handler returns its response instead of setting `body`. HEAD requests run the GET endpoint; the response body is not
 * sent.
 */
export type EndpointContext<Principal = unknown, Body = unknown, Params = unknown> = Omit<
  Koa.ExtendableContext,
  'request' | 'body'
> & {
  readonly request: Omit<Koa.Request, 'body'> & { body: Body }
  readonly state: RequestState & { readonly principal: Principal }
  /** Path parameters, decoded. */
  readonly params: Params
}

/** What the middleware knows of a request. */
export type RequestState = {
  /** The client's X-Request-Id, or a generated one. It is the correlation id of the events. */
  requestId: string
  /** The client's trace context, in the form of `traceparent`. */
  trace: string | undefined
  bodyAllowance: BodyAllowance
  /** How long the request may still wait for read models. */
  waitBudget: WaitBudget
  endpoint?: Pick<Endpoint, 'operationId' | 'group' | 'headers'>
  /** The result of the endpoint's `auth`. */
  principal?: unknown
  response?: HttpResponse
}

/** The memory that a request's body may use, and the minimum transfer rate. */
export type BodyAllowance = {
  readonly minTransferRate: MinimumTransferRate
  /** @throws RequestError unavailable if the shared memory is exhausted */
  consume(bytes: number): void
  /** @param bytes the declared size of the body @throws RequestError unavailable if that exceeds the memory currently available */
  requireAvailable(bytes: number): void
}

/** Authenticates requests. Checks that must run first (rate limit, request origin) are part of it. */
export type Authenticator<Principal, Service = unknown> = {
  /** The name of the OpenAPI security scheme. */
  readonly scheme: 'none' | 'bearer' | 'api-token' | 'oauth-client' | 'signed-link' | 'cookie'
  /** Statuses of the errors that it throws. */
  readonly errorStatuses: readonly number[]
  /** The body may contain the credentials, so it is read before authentication. */
  readonly needsBody?: true
  /** @throws RequestError; ErrorWithHeaders if the response needs headers, such as a challenge */
  authenticate(ctx: EndpointContext, service: Service): Principal | Promise<Principal>
}

/** How an endpoint reads its request body. `read` is called for every method of the endpoint, including GET. */
export type RequestBody<Value, Service = unknown, Principal = unknown> = {
  /** Accepted media types; '' for a body without a Content-Type. */
  readonly mediaTypes: readonly string[]
  /** Larger bodies are rejected with 413. */
  readonly maxBytes: number
  readonly schema?: VersionedSchema
  /** @throws RequestError */
  read(ctx: EndpointContext<Principal>, service: Service): Value | Promise<Value>
  /** Releases what `read` acquired, such as a temporary file. Called however the request ends. */
  release?(value: Value): void | Promise<void>
}

/** A response that an endpoint declares, in addition to the errors that follow from `auth`, `body` and the path. */
export type ResponseDescription =
  | string
  | {
      readonly description: string
      readonly schema?: VersionedSchema
      /** JSON if absent. */
      readonly mediaType?: string | readonly string[]
      /** Descriptions by header name. */
      readonly headers?: Readonly<Record<string, string>>
      readonly example?: unknown
    }

/** The part of an error that the client sees. The rest goes only to the log. */
export type HttpErrorDetails = {
  readonly status: number
  readonly faults: readonly ErrorDetail[]
  readonly retryAfterSeconds?: number | undefined
}

/** Endpoints with a common error format. */
export type EndpointGroup = {
  /** Its heading in the API reference. */
  readonly tag: string
  /** Path prefixes whose errors without an endpoint (404, 405, a missing Host) use this format too. */
  readonly pathPrefixes: readonly string[]
  /** Set on every response below the prefixes, including errors and OPTIONS. */
  readonly headers?: ResponseHeaders
  /** Whether a GET with a query parameter that its endpoint doesn't declare is 400, rather than the parameter being ignored. */
  readonly refusesUnknownParameters?: boolean
  /** Without a schema, errors are HTML pages. */
  readonly errorFormat: { readonly mediaType: string; readonly schema?: ZodType }
  /** May choose another status than `details.status`. */
  errorResponse(details: HttpErrorDetails, error: unknown, request: FailedRequest): HttpResponse
}

/** `params` are empty if no endpoint matched; `form` is that of an ErrorWithForm. */
export type FailedRequest = {
  readonly requestId: string
  readonly params: Readonly<Record<string, string>>
  readonly target: string
  readonly form?: Html
}

/**
 * An HTTP endpoint. Routing, 404, 405 with Allow, HEAD, OPTIONS, authentication, body limits, error bodies, CORS, the names
 * in logs and metrics, and the API reference are all derived from these values.
 * @template Service the services, by subject; `auth`, `body` and `handler` each declare the part that they use
 */
export type Endpoint<in Service = never> = {
  /** Unique, in camel case: the label in logs and metrics, and the operationId in OpenAPI. */
  readonly operationId: string
  readonly methods: readonly HttpMethod[]
  /** The first is documented; the others are deprecated aliases. */
  readonly paths: readonly string[]
  readonly summary: string
  readonly auth: Authenticator<unknown, Service>
  readonly pathParameters: Readonly<Record<string, ZodType<unknown, string>>>
  readonly query?: VersionedSchema
  readonly requestHeaders?: Readonly<Record<string, ZodType<unknown, string | undefined>>>
  readonly body?: RequestBody<unknown, Service>
  readonly responses: Readonly<Record<number, ResponseDescription>>
  readonly group: EndpointGroup
  /** Not part of the API: requested only by browsers and crawlers. */
  readonly isBrowserOnly?: boolean
  /** Set on every response, including the group's headers. */
  readonly headers: ResponseHeaders
  handler(ctx: EndpointContext, service: Service): HttpResponse | Promise<HttpResponse>
}

type PathParameterSchemas = Readonly<Record<string, ZodType<unknown, string>>>

type EndpointDefinition<
  Parameters extends PathParameterSchemas,
  Principal,
  Value,
  AuthService,
  BodyService,
  HandlerService,
> = {
  readonly operationId: string
  readonly method: HttpMethod | readonly HttpMethod[]
  /** Such as `/v2/cutshapes/{id}`. A path without parameters takes precedence for all methods. */
  readonly path: string | readonly string[]
  /** For the API reference. Its first clause is the short summary in OpenAPI: "Retrieve a diamond". */
  readonly summary: string
  readonly auth: Authenticator<Principal, AuthService>
  /**
   * Path parameters. An enum expands to one path for each value; other values are 404. All others reach the handler
   * decoded but not validated, so that each resource reports its own errors.
   */
  readonly pathParameters?: Parameters
  /** Query parameters, for the API reference. The handler parses `ctx.querystring`. */
  readonly query?: VersionedSchema
  /** Request headers, for the API reference. The handler reads `ctx.headers`. */
  readonly requestHeaders?: Readonly<Record<string, ZodType<unknown, string | undefined>>>
  readonly body?: RequestBody<Value, BodyService, NoInfer<Principal>>
  readonly responses: Readonly<Record<number, ResponseDescription>>
  readonly group: EndpointGroup
  /** Requested only by browsers and crawlers: omitted from /openapi.json, as are groups of HTML pages. */
  readonly isBrowserOnly?: boolean
  /** Set on every response, including errors, except 405 and OPTIONS. Headers of the response itself take precedence. */
  readonly headers?: ResponseHeaders
  /**
   * Returns a response made with response.ts. Errors that it throws are mapped to statuses in errors.ts and formatted
   * by the group.
   */
  handler(
    ctx: EndpointContext<
      NoInfer<Principal>,
      NoInfer<Value>,
      { readonly [Name in keyof Parameters]: Parameters[Name]['_zod']['input'] }
    >,
    service: HandlerService,
  ): HttpResponse | Promise<HttpResponse>
}

/**
 * Declares an endpoint:
 * ```ts
 * export const removeDiamond = endpoint({
 *   operationId: 'removeDiamond',
 *   method: 'DELETE',
 *   path: '/{version}/diamond/{id}',
 *   summary: 'Delete a diamond and its certifications',
 *   auth: bearer,
 *   pathParameters: { version: VERSION, id: DIAMOND_ID },
 *   group: accountGroup,
 *   responses: { 204: 'Deleted', 403: 'The diamond belongs to another account', 404: 'No such diamond' },
 *   async handler(ctx, { diamonds }: DiamondServices) { ...; return noContent() },
 * })
 * ```
 * The type of `ctx` is inferred from `auth`, `body` and `pathParameters`, the required services from the handler.
 */
export function endpoint<
  Principal,
  const Parameters extends PathParameterSchemas = Record<never, never>,
  Value = undefined,
  AuthService = unknown,
  BodyService = unknown,
  HandlerService = unknown,
>(
  definition: EndpointDefinition<Parameters, Principal, Value, AuthService, BodyService, HandlerService>,
): Endpoint<AuthService & BodyService & HandlerService> {
  const { method, path, pathParameters = {}, ...rest } = definition
  const paths = [path].flat()
  for (const template of paths) checkPathParameters(definition.operationId, template, Object.keys(pathParameters))
  const headers = { ...rest.group.headers, ...rest.headers }
  return { ...rest, methods: [method].flat(), paths, pathParameters, headers } as Endpoint<
    AuthService & BodyService & HandlerService
  >
}

/** @throws Error at start-up if the parameters in the path differ from the declared ones */
function checkPathParameters(operationId: string, path: string, declared: readonly string[]): void {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  if (named.toSorted().join() === declared.toSorted().join()) return
  throw new Error(`${operationId} declares the parameters ${declared.join(', ')}, but ${path} has ${named.join(', ')}`)
}

/** No authentication. */
export const publicAccess: Authenticator<undefined> = {
  scheme: 'none',
  errorStatuses: [],
  authenticate: () => undefined,
}
