import { findClosestName } from '../domain/dictionaries/edit-distance.ts'
import type { ConnectionStringParameters } from '../stores/ports/connection-string.ts'
import type { StoreEngine } from './store-engines.ts'

type AddressedEngine = Pick<StoreEngine<unknown, never>, 'location' | 'isAddress' | 'example' | 'note' | 'parameters'>
type StoreEnginesByScheme<One extends AddressedEngine> = Readonly<Record<string, One>>

/** The engine whose scheme an address has, whatever else is wrong with it. */
const findEngine = <One extends AddressedEngine>(
  engines: StoreEnginesByScheme<One>,
  address: string,
): One | undefined => {
  const [scheme = ''] = address.split(':', 1)
  return Object.hasOwn(engines, scheme) ? engines[scheme] : undefined
}

/** @param address of settings that were checked, or `SCHEME:DIR` @throws Error for any other */
export function engineOf<One extends AddressedEngine>(engines: StoreEnginesByScheme<One>, address: string): One {
  const engine = findEngine(engines, address)
  if (engine === undefined) throw new Error(`there is no store of this scheme; there are ${examples(engines)}`)
  return engine
}

/** Whether an address names one of these by its scheme, though perhaps by no more. */
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

/** What an address of one of these is, for people. */
export const describeAddresses = (engines: StoreEnginesByScheme<AddressedEngine>): string =>
  [examples(engines), ...Object.values(engines).flatMap(({ note = [] }) => note)].join(', ')

/**
 * What is wrong with the parameters of an address, each fault as the end of a sentence that begins with the setting's
 * name. The clients pass over what they don't know or don't do, one of them with a line that holds the whole address; an
 * address can also take back what the service promises.
 * Neither a user nor a password is repeated, nor what may be a part of one.
 */
export function parameterFaults(engines: StoreEnginesByScheme<AddressedEngine>, address: string): string[] {
  const known = findEngine(engines, address)?.parameters
  if (known === undefined) return []
  const start = address.indexOf('?')
  if (start < 0) return []
  const given = address.slice(start + 1)
  // A password with a question mark in it: what follows is no parameter, and not to be told.
  if (given.includes('@')) return ['has an @ behind its ?: write ? in a user or password as %3F, @ as %40']
  return given.split('&').flatMap((parameter) => faultOf(parameter, known) ?? [])
}

function faultOf(
  parameter: string,
  { allowed, rejected, normalizeName }: ConnectionStringParameters,
): string | undefined {
  const { name, value } = /^(?<name>[\w-]+)=(?<value>[^?]+)$/.exec(parameter)?.groups ?? {}
  if (name === undefined || value === undefined) return 'has something behind its ? that is no NAME=VALUE'
  const named = (table: object) => Object.keys(table).find((known) => normalizeName(known) === normalizeName(name))
  const taken = named(allowed)
  const values = taken === undefined ? [] : allowed[taken]
  if (values === 'any' || values?.includes(value.toLowerCase()) === true) return undefined
  const refused = named(rejected)
  const alternative = values?.length ? `; ${values.map((right) => `${name}=${right}`).join(' or ')} is` : ''
  if (taken !== undefined)
    return `has ${name}, of which that value is not taken${alternative}${because(refused, rejected)}`
  if (refused !== undefined) return `has ${name}, which is not taken${because(refused, rejected)}`
  const near = findClosestName(name, Object.keys(allowed))
  return `has ${name.slice(0, 40)}, which is no parameter of it${near === undefined ? '' : `: is ${near} meant?`}`
}

const because = (name: string | undefined, reasons: ConnectionStringParameters['rejected']) =>
  name === undefined || reasons[name] === undefined ? '' : `: ${reasons[name]}`

/** Of a store's address, what logs and people may see: no user, no password, no options. */
export const withoutCredentials = (address: string) => address.replace(/\/\/[^/]*@/, '//').replace(/\?.*$/, '')
