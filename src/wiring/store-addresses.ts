import { nearest } from '../domain/dictionaries/nearest.ts'
import type { Parameters } from '../stores/ports/address.ts'
import type { Engine } from './engines.ts'

type Named = Pick<Engine<unknown, never>, 'lies' | 'isAddress' | 'example' | 'note' | 'parameters'>
type Engines<One extends Named> = Readonly<Record<string, One>>

/** The engine whose scheme an address has, whatever else is wrong with it. */
const named = <One extends Named>(engines: Engines<One>, address: string): One | undefined => {
  const [scheme = ''] = address.split(':', 1)
  return Object.hasOwn(engines, scheme) ? engines[scheme] : undefined
}

/** @param address of settings that were checked, or `SCHEME:DIR` @throws Error for any other */
export function engineOf<One extends Named>(engines: Engines<One>, address: string): One {
  const engine = named(engines, address)
  if (engine === undefined) throw new Error(`there is no store of this scheme; there are ${examples(engines)}`)
  return engine
}

/** Whether an address names one of these by its scheme, though perhaps by no more. */
export const hasScheme = (engines: Engines<Named>, address: string): boolean => named(engines, address) !== undefined

export const isAddressOf = (engines: Engines<Named>, address: string): boolean =>
  named(engines, address)?.isAddress(address) === true

export const liesOnServer = (engines: Engines<Named>, address: string): boolean =>
  named(engines, address)?.lies === 'on a server'

const examplesOf = (engines: Engines<Named>) => Object.values(engines).flatMap(({ example = [] }) => example)

function examples(engines: Engines<Named>): string {
  const all = examplesOf(engines)
  return [all.slice(0, -1).join(', '), all.at(-1)].filter((part) => part !== '').join(' or ')
}

/** What an address of one of these is, for people. */
export const addressWords = (engines: Engines<Named>): string =>
  [examples(engines), ...Object.values(engines).flatMap(({ note = [] }) => note)].join(', ')

/**
 * What is wrong with the parameters of an address, each fault as the end of a sentence that begins with the setting's
 * name. The clients pass over what they don't know or don't do, one of them with a line that holds the whole address; an
 * address can also take back what the service promises.
 * Neither a user nor a password is repeated, nor what may be a part of one.
 */
export function parameterFaults(engines: Engines<Named>, address: string): string[] {
  const known = named(engines, address)?.parameters
  if (known === undefined) return []
  const start = address.indexOf('?')
  if (start < 0) return []
  const given = address.slice(start + 1)
  // A password with a question mark in it: what follows is no parameter, and not to be told.
  if (given.includes('@')) return ['has an @ behind its ?: write ? in a user or password as %3F, @ as %40']
  return given.split('&').flatMap((parameter) => faultOf(parameter, known) ?? [])
}

function faultOf(parameter: string, { takes, refuses, key }: Parameters): string | undefined {
  const { name, value } = /^(?<name>[\w-]+)=(?<value>[^?]+)$/.exec(parameter)?.groups ?? {}
  if (name === undefined || value === undefined) return 'has something behind its ? that is no NAME=VALUE'
  const named = (table: object) => Object.keys(table).find((known) => key(known) === key(name))
  const taken = named(takes)
  const values = taken === undefined ? [] : takes[taken]
  if (values === 'any' || values?.includes(value.toLowerCase()) === true) return undefined
  const refused = named(refuses)
  const alternative = values?.length ? `; ${values.map((right) => `${name}=${right}`).join(' or ')} is` : ''
  if (taken !== undefined)
    return `has ${name}, of which that value is not taken${alternative}${because(refused, refuses)}`
  if (refused !== undefined) return `has ${name}, which is not taken${because(refused, refuses)}`
  const near = nearest(name, Object.keys(takes))
  return `has ${name.slice(0, 40)}, which is no parameter of it${near === undefined ? '' : `: is ${near} meant?`}`
}

const because = (name: string | undefined, reasons: Parameters['refuses']) =>
  name === undefined || reasons[name] === undefined ? '' : `: ${reasons[name]}`

/** Of a store's address, what logs and people may see: no user, no password, no options. */
export const withoutCredentials = (address: string) => address.replace(/\/\/[^/]*@/, '//').replace(/\?.*$/, '')
