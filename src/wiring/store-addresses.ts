import { findClosestName } from '../domain/dictionaries/edit-distance.ts'
import type { ConnectionStringParameters } from '../stores/ports/connection-string.ts'
import type { StoreEngine } from './store-engines.ts'

type AddressedEngine = Pick<StoreEngine<unknown, never>, 'location' | 'isAddress' | 'example' | 'note' | 'parameters'>
type StoreEnginesByScheme<One extends AddressedEngine> = Readonly<Record<string, One>>

/** The engine of an address, by its scheme; the rest is not checked. */
const findEngine = <One extends AddressedEngine>(
  engines: StoreEnginesByScheme<One>,
  address: string,
): One | undefined => {
  const [scheme = ''] = address.split(':', 1)
  return Object.hasOwn(engines, scheme) ? engines[scheme] : undefined
}

/** @param address from validated settings, or `SCHEME:DIR` @throws Error for an unknown scheme */
export function engineOf<One extends AddressedEngine>(engines: StoreEnginesByScheme<One>, address: string): One {
  const engine = findEngine(engines, address)
  if (engine === undefined) throw new Error(`unknown store scheme: must be ${examples(engines)}`)
  return engine
}

/** Whether an address has a known scheme; the rest may be invalid. */
export const hasScheme = (engines: StoreEnginesByScheme<AddressedEngine>, address: string): boolean =>
  findEngine(engines, address) !== undefined

export const isAddressOf = (engines: StoreEnginesByScheme<AddressedEngine>, address: string): boolean =>
  findEngine(engines, address)?.isAddress(address) === true

export const isStoredOnServer = (engines: StoreEnginesByScheme<AddressedEngine>, address: string): boolean =>
  findEngine(engines, address)?.location === 'on a server'

const examplesOf = (engines: StoreEnginesByScheme<AddressedEngine>) =>
  Object.values(engines).flatMap(({ example = [] }) => example)

function examples(engines: StoreEnginesByScheme<AddressedEngine>): string {
  const all = examplesOf(engines)
  return [all.slice(0, -1).join(', '), all.at(-1)].filter((part) => part !== '').join(' or ')
}

/** The valid forms of an address, for error messages. */
export const describeAddresses = (engines: StoreEnginesByScheme<AddressedEngine>): string =>
  [examples(engines), ...Object.values(engines).flatMap(({ note = [] }) => note)].join(', ')

/**
 * Faults in the parameters of a connection string; each message follows the setting's name. Clients ignore unknown or
 * unsupported parameters, one of them logging the whole connection string; other parameters would weaken guarantees of
 * the service.
 * Messages never quote a user, a password or what may be part of one.
 */
export function parameterFaults(engines: StoreEnginesByScheme<AddressedEngine>, address: string): string[] {
  const parameters = findEngine(engines, address)?.parameters
  if (parameters === undefined) return []
  const start = address.indexOf('?')
  if (start < 0) return []
  const query = address.slice(start + 1)
  // A password may contain a question mark: the rest is then not a parameter and must not be quoted.
  if (query.includes('@')) return ['has an @ after its ?: encode ? in a user or password as %3F, and @ as %40']
  return query.split('&').flatMap((parameter) => faultOf(parameter, parameters) ?? [])
}

function faultOf(
  parameter: string,
  { allowed, rejected, normalizeName }: ConnectionStringParameters,
): string | undefined {
  const { name, value } = /^(?<name>[\w-]+)=(?<value>[^?]+)$/.exec(parameter)?.groups ?? {}
  if (name === undefined || value === undefined) return 'has a parameter that is not NAME=VALUE'
  const findName = (table: object) => Object.keys(table).find((known) => normalizeName(known) === normalizeName(name))
  const allowedName = findName(allowed)
  const values = allowedName === undefined ? [] : allowed[allowedName]
  if (values === 'any' || values?.includes(value.toLowerCase()) === true) return undefined
  const rejectedName = findName(rejected)
  const alternative = values?.length
    ? `; use ${values.map((allowedValue) => `${name}=${allowedValue}`).join(' or ')}`
    : ''
  if (allowedName !== undefined)
    return `has ${name} with an unsupported value${alternative}${reasonText(rejectedName, rejected)}`
  if (rejectedName !== undefined) return `has ${name}, which is not supported${reasonText(rejectedName, rejected)}`
  const suggestion = findClosestName(name, Object.keys(allowed))
  return `has ${name.slice(0, 40)}, which is not a known parameter${suggestion === undefined ? '' : `: did you mean ${suggestion}?`}`
}

const reasonText = (name: string | undefined, reasons: ConnectionStringParameters['rejected']) =>
  name === undefined || reasons[name] === undefined ? '' : `: ${reasons[name]}`

/** A store's address for logs and messages: without user, password and options. */
export const withoutCredentials = (address: string) => address.replace(/\/\/[^/]*@/, '//').replace(/\?.*$/, '')
