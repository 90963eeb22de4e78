import type { Context } from 'koa'
import type { IncomingHttpHeaders } from 'node:http'
import type { ZodType } from 'zod'
import type { WaitBudget } from '../../projections/engine/progress.ts'
import type { HttpResponse, ResponseHeaders } from './response.ts'
import type { ErrorDetail } from '../../domain/decider.ts'

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A schema for people and documents, or one for each API version where they differ. */
export type VersionedSchema = ZodType | { readonly v3: ZodType; readonly v4: ZodType }

/** What `run` knows of its request: everything it may, and nothing of Koa or of the connection. */
export type HttpRequest<Asker = undefined, Value = undefined, Names = Readonly<Record<string, string>>> = {
  /** The caller's own X-Request-Id or one that was made; the correlation id of the events. */
  readonly requestId: string
  /** The trace that the request is a part of, as `traceparent` has it, where its caller said so. */
  readonly trace?: string | undefined
  /** As it came: HEAD is asked of an endpoint that has GET, and its answer's body is left out in sending. */
  readonly method: string
  /** As it came, without the query. */
  readonly path: string
  /** The whole target as it came, which a browser resolves a page's addresses against. */
  readonly target: string
  /** The query as it came, still encoded, without its question mark. */
  readonly search: string
  /** What stands in the braces of the path, decoded. */
  readonly params: Names
  /** By their names in small letters. */
  readonly headers: IncomingHttpHeaders
  /** Which of some types the client likes best, the first where it says nothing; false for none of them. */
  accepts(...types: string[]): string | false
  /** A cookie that the client sent. */
  cookie(name: string): string | undefined
  /** The client's, behind as many proxies as TRUST_PROXY says. Found when it is asked for. */
  readonly clientAddress: string
  /** The address at the other end of the connection: the client's, or the nearest proxy's. */
  readonly peerAddress: string
  /** What is left of this request's patience with read models. */
  readonly waitBudget: WaitBudget
  /**
   * Says that from here on the request waits for something to happen, and is no work under way that others give way to.
   * @returns aborted when its client is gone, or has its answer
   */
  beginLongPoll(): AbortSignal
  /** What `who` made of the caller. */
  readonly principal: Asker
  /** What `body` has read. */
  readonly body: Value
}

/** Who may ask: lets somebody in, or throws. What has to stand before it (a rate limit, an origin) is a part of it. */
export type Authenticator<Asker, Service = unknown> = {
  /** As OpenAPI names the way of authentication. */
  readonly scheme: 'none' | 'bearer' | 'api-token' | 'oauth-client' | 'signed-link' | 'cookie'
  /** Statuses it may refuse with. */
  readonly errorStatuses: readonly number[]
  /** Its credentials may stand in the body, which is then read before; otherwise nobody's body is read who may not ask. */
  readonly needsBody?: true
  /** @throws Refusal; `RefusedWith` for one with headers of its own, such as a challenge */
  authenticate(request: HttpRequest<unknown, unknown>, service: Service): Asker | Promise<Asker>
}

/** A body and how it is read. `read` is called for every method of the endpoint, GET too where it has one. */
export type RequestBody<Value, Service = unknown, Asker = unknown> = {
  /** Types that are read; '' stands for a body without a type. */
  readonly mediaTypes: readonly string[]
  /** Bytes at most; past them it is 413. */
  readonly maxBytes: number
  readonly schema?: VersionedSchema
  /** @throws Refusal */
  read(ctx: Context, request: HttpRequest<Asker, unknown>, service: Service): Value | Promise<Value>
  /** Gives back what reading has taken (a temporary file), however the request ends. */
  release?(value: Value): void | Promise<void>
}

/** One answer an endpoint may give, beside the refusals that follow from `who`, `body` and the path. */
export type ResponseDescription =
  | string
  | {
      readonly description: string
      readonly schema?: VersionedSchema
      /** Media type where it is not JSON, or each that it may be. */
      readonly mediaType?: string | readonly string[]
      /** What each of its own headers says. */
      readonly headers?: Readonly<Record<string, string>>
      readonly example?: unknown
    }

/** What of an error reaches the caller; everything else about it goes to the log. */
export type HttpErrorDetails = {
  readonly status: number
  readonly faults: readonly ErrorDetail[]
  readonly retryAfterSeconds?: number | undefined
}

/** Endpoints whose refusals are written alike. */
export type EndpointGroup = {
  readonly name: string
  /** First segments of paths: what is refused below them without an endpoint (404, 405, no Host) is written so too. */
  readonly pathPrefixes: readonly string[]
  /** Of every answer below the prefixes, refusals and OPTIONS too. */
  readonly headers?: ResponseHeaders
  /** How its refusals read; without a schema, as a page for people. */
  readonly errorFormat: { readonly mediaType: string; readonly schema?: ZodType }
  /** `params` are empty where no endpoint was found. The status may differ from the one that is suggested. */
  errorResponse(
    details: HttpErrorDetails,
    error: unknown,
    request: Pick<HttpRequest, 'requestId' | 'params'>,
  ): HttpResponse
}

/**
 * One thing that the service can be asked for. Routes, 404, 405 with Allow, HEAD, OPTIONS, authentication, limits of
 * bodies, error bodies, CORS, and the name in logs follow from such values and from nothing else.
 * @template Service what it is answered from: an object by subject, of which `who`, `body` and `run` each name their part
 */
export type Endpoint<in Service = never> = {
  /** Unique, in camel case: the label in logs and metrics, the operation of OpenAPI. */
  readonly operationId: string
  readonly methods: readonly HttpMethod[]
  /** The first is the documented one, the others are its aliases. */
  readonly paths: readonly string[]
  readonly summary: string
  readonly auth: Authenticator<unknown, Service>
  readonly pathParameters: Readonly<Record<string, ZodType<unknown, string>>>
  readonly query?: VersionedSchema
  readonly requestHeaders?: Readonly<Record<string, ZodType<unknown, string | undefined>>>
  readonly body?: RequestBody<unknown, Service>
  readonly responses: Readonly<Record<number, ResponseDescription>>
  readonly group: EndpointGroup
  /** Asked for by browsers and crawlers, and by no client of the API. */
  readonly isBrowserOnly?: boolean
  /** Of its every answer, the family's among them. */
  readonly headers: ResponseHeaders
  handler(request: HttpRequest<unknown, unknown>, service: Service): HttpResponse | Promise<HttpResponse>
}

type PathParameterSchemas = Readonly<Record<string, ZodType<unknown, string>>>

type EndpointDefinition<Parameters extends PathParameterSchemas, Asker, Value, OfWho, OfBody, OfRun> = {
  readonly operationId: string
  readonly method: HttpMethod | readonly HttpMethod[]
  /** `/v2/cutshapes/{id}`; a path without braces comes before one with, for all methods. */
  readonly path: string | readonly string[]
  /** One sentence for people. */
  readonly summary: string
  readonly auth: Authenticator<Asker, OfWho>
  /**
   * What may stand in the braces. Those that are an enum make a path of their own for each value, and others are not
   * found; all else comes to `run` as it was sent (decoded) and is read there, so that each resource refuses in its words.
   */
  readonly pathParameters?: Parameters
  /** The query's parameters, for documents: `run` reads `asked.search`. */
  readonly query?: VersionedSchema
  /** Headers that mean something here, for documents: `run` reads `asked.headers`. */
  readonly requestHeaders?: Readonly<Record<string, ZodType<unknown, string | undefined>>>
  readonly body?: RequestBody<Value, OfBody, NoInfer<Asker>>
  readonly responses: Readonly<Record<number, ResponseDescription>>
  readonly group: EndpointGroup
  /** Asked for by browsers and crawlers, and by no client of the API: /openapi.json leaves it out, as it does families of pages. */
  readonly isBrowserOnly?: boolean
  /** Of its every answer, refusals too, but not of 405 and OPTIONS; an answer's own win. */
  readonly headers?: ResponseHeaders
  /**
   * Answers by the small constructors of response.ts, at once where it can: a promise costs more than most answers do. What
   * it throws is refused by the one map in errors.ts, in the words of the family.
   */
  handler(
    request: HttpRequest<
      NoInfer<Asker>,
      NoInfer<Value>,
      { readonly [Name in keyof Parameters]: Parameters[Name]['_zod']['input'] }
    >,
    service: OfRun,
  ): HttpResponse | Promise<HttpResponse>
}

/**
 * Declares one endpoint:
 * ```ts
 * export const removeDiamond = endpoint({
 *   name: 'removeDiamond', method: 'DELETE', path: '/{version}/diamond/{id}',
 *   about: 'Removes a diamond with its certifications.',
 *   who: bearer, parameters: { version: VERSION, id: DIAMOND_ID }, family: platform,
 *   answers: { 204: 'It is gone', 403: "It is another account's", 404: 'There is none' },
 *   async run(asked, { diamonds }: DiamondServices) { ...; return noContent() },
 * })
 * ```
 * The types of `asked` follow from `who`, `body` and `parameters`; the service's from the one that `run` names.
 */
export function endpoint<
  Asker,
  const Parameters extends PathParameterSchemas = Record<never, never>,
  Value = undefined,
  OfWho = unknown,
  OfBody = unknown,
  OfRun = unknown,
>(definition: EndpointDefinition<Parameters, Asker, Value, OfWho, OfBody, OfRun>): Endpoint<OfWho & OfBody & OfRun> {
  const { method, path, pathParameters = {}, ...rest } = definition
  const paths = [path].flat()
  for (const one of paths) checkPathParameters(definition.operationId, one, Object.keys(pathParameters))
  const headers = { ...rest.group.headers, ...rest.headers }
  return { ...rest, methods: [method].flat(), paths, pathParameters, headers } as Endpoint<OfWho & OfBody & OfRun>
}

/** @throws Error for a path whose braces are not the declared parameters: a fault of ours, told at the start */
function checkPathParameters(endpoint: string, path: string, declared: readonly string[]): void {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  if (named.toSorted().join() === declared.toSorted().join()) return
  throw new Error(`${endpoint} declares the parameters ${declared.join(', ')}, and ${path} has ${named.join(', ')}`)
}

/** For everybody. */
export const publicAccess: Authenticator<undefined> = {
  scheme: 'none',
  errorStatuses: [],
  authenticate: () => undefined,
}
