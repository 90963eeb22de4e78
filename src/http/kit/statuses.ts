import type { Endpoint } from './endpoint.ts'

/** What any request may be answered: it is no HTTP, its headers are too long, or a store is away. */
export const ANY_REQUEST: readonly number[] = [431, 503]

/** What a body may be refused with. */
const OF_BODIES: readonly number[] = [400, 408, 413, 415, 422]

type Declared = Pick<Endpoint, 'answers' | 'body'> & { readonly who: Pick<Endpoint['who'], 'refuses'> }

/** Statuses that follow from what is declared: by the endpoint, by who may ask it, and by how its body is read. */
export const declaredStatuses = ({ answers, who, body }: Declared): Set<number> =>
  new Set([...Object.keys(answers).map(Number), ...who.refuses, ...(body === undefined ? [] : OF_BODIES)])
