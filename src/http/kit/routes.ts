import type { Endpoint } from './endpoint.ts'

/** An endpoint found for a path, and what stands in the path's braces. */
export type Found<Service> = {
  readonly endpoint: Endpoint<Service>
  readonly params: Readonly<Record<string, string>>
}

/** What can be asked of a path: `Allow`. */
export type Known = { readonly allow: string }

type Place<Service> = {
  readonly names: Map<string, Place<Service>>
  /** Behind a segment in braces. */
  any: Place<Service> | undefined
  readonly endpoints: Map<string, Endpoint<Service>>
  allow: string
  /** Names of the segments in braces on the way here, in their order. */
  parameters: readonly string[]
  /** What stands for a parameter whose values are written into the paths. */
  fixed: Readonly<Record<string, string>>
}

/**
 * The paths of all endpoints as a tree of their segments: a look-up costs one step a segment, however many endpoints there
 * are (docs/decisions/0044). A segment that is written out comes before one in braces.
 */
export class Routes<Service> {
  readonly #root = newPlace<Service>()

  /** @throws Error where two endpoints claim one method of one path: a fault of ours, told at the start */
  constructor(endpoints: readonly Endpoint<Service>[]) {
    for (const endpoint of endpoints) {
      for (const path of endpoint.paths) for (const way of writtenOut(path, endpoint)) this.#add(endpoint, way)
    }
  }

  /** What answers; `allow` alone for a path that has not this method; undefined for none. @param path without its query */
  find(method: string, path: string): Found<Service> | Known | undefined {
    const values: string[] = []
    const place = this.#placeOf(path, values)
    if (place === undefined) return undefined
    const endpoint = place.endpoints.get(method)
    if (endpoint === undefined) return { allow: place.allow }
    return { endpoint, params: values.length === 0 ? place.fixed : named(place, values) }
  }

  #placeOf(path: string, values: string[]): Place<Service> | undefined {
    let place = this.#root
    let from = 1
    for (let depth = 0; from <= path.length; depth++) {
      const slash = path.indexOf('/', from)
      const end = slash < 0 ? path.length : slash
      const segment = path.slice(from, end)
      const written =
        place.names.get(segment) ?? (depth < RESOURCE ? undefined : place.names.get(segment.toLowerCase()))
      const next = written ?? (segment === '' ? undefined : place.any)
      if (next === undefined) return undefined
      if (written === undefined) values.push(segment)
      place = next
      from = end + 1
    }
    return place.allow === '' ? undefined : place
  }

  #add(endpoint: Endpoint<Service>, { path, fixed }: WrittenOut): void {
    let place = this.#root
    const parameters: string[] = []
    for (const segment of path.slice(1).split('/')) {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1]
      if (name !== undefined) parameters.push(name)
      let next = name === undefined ? place.names.get(segment) : place.any
      next ??= newPlace()
      if (name === undefined) place.names.set(segment, next)
      else place.any = next
      place = next
    }
    place.parameters = parameters
    place.fixed = fixed
    for (const method of endpoint.methods.flatMap((one) => (one === 'GET' ? ['HEAD', 'GET'] : [one]))) {
      const other = place.endpoints.get(method)
      if (other !== undefined) throw new Error(`${endpoint.name} and ${other.name} both answer ${method} ${path}`)
      place.endpoints.set(method, endpoint)
    }
    place.allow = [...place.endpoints.keys(), 'OPTIONS'].join(', ')
  }
}

/** Segments that are read as they are written; behind a resource's name capital letters count as small ones. */
const RESOURCE = 2

/** A path, and what stands in it for the parameters that are an enum. */
export type WrittenOut = { readonly path: string; readonly fixed: Readonly<Record<string, string>> }

/** A path for each value of those parameters that are an enum: `/{version}/diamond` is `/v3/diamond` and `/v4/diamond`. */
export function writtenOut(path: string, { parameters }: Pick<Endpoint, 'parameters'>): WrittenOut[] {
  let ways: WrittenOut[] = [{ path, fixed: {} }]
  for (const [name, schema] of Object.entries(parameters)) {
    const values: unknown = 'options' in schema ? schema.options : undefined
    if (!Array.isArray(values)) continue
    ways = ways.flatMap((way) =>
      values.map(String).map((value) => ({
        path: way.path.replace(`{${name}}`, value),
        fixed: { ...way.fixed, [name]: value },
      })),
    )
  }
  return ways
}

const newPlace = <Service>(): Place<Service> => ({
  names: new Map(),
  any: undefined,
  endpoints: new Map(),
  allow: '',
  parameters: [],
  fixed: {},
})

function named<Service>({ parameters, fixed }: Place<Service>, values: readonly string[]): Record<string, string> {
  const params: Record<string, string> = { ...fixed }
  for (let at = 0; at < values.length; at++) params[parameters[at] ?? ''] = decoded(values[at] ?? '')
  return params
}

/** What is no percent-encoding stands for itself. */
function decoded(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
