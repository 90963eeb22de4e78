import type { ApiVersion } from '../../domain/diamond/field.ts'
import { FIELDS, REQUIRED, type Change, type NewDiamond, type OptionalField } from '../../domain/diamond/fields.ts'
import type { Fault } from '../../domain/refusal.ts'
import { isObject, kindOf, type Parsed } from '../json.ts'
import { unknownMembers } from '../unknown-members.ts'
import { READERS, type Reader } from './readers.ts'

/** Assigned by the service; ignored on input, so that what was read can be sent back. */
export const ASSIGNED: ReadonlySet<string> = new Set(['id', 'date', 'certifications', 'scores', '_links'])

/**
 * A diamond to create, from a request's JSON in v3 or v4 form. null is the same as absent.
 * @param at JSON Pointer of `input` in the body, '' for the body itself
 */
export function readNewDiamond(version: ApiVersion, input: unknown, at: string): Parsed<NewDiamond> {
  const { set, faults } = readFields(version, input, at)
  for (const name of REQUIRED) {
    const given = isObject(input) && input[name] !== undefined && input[name] !== null
    if (isObject(input) && !given) faults.push({ pointer: `${at}/${name}`, message: `${name} is required` })
  }
  return faults.length > 0 ? { faults } : { value: set as NewDiamond }
}

/** A change of a diamond: what is absent stays, null goes back to the default, and what is required can't be removed. */
export function readChange(version: ApiVersion, input: unknown, at: string): Parsed<Change> {
  const { set, removed, faults } = readFields(version, input, at)
  for (const name of REQUIRED) {
    if (isObject(input) && input[name] === null) {
      faults.push({ pointer: `${at}/${name}`, message: `${name} can't be removed; send a new value or leave it out` })
    }
  }
  if (faults.length > 0) return { faults }
  // v3 shows the root of every shape: sent back, it says no more than that.
  return { value: version === 'v3' ? { set, removed, shapeByRoot: true } : { set, removed } }
}

type Fields = { readonly set: Change['set']; readonly removed: readonly OptionalField[]; readonly faults: Fault[] }

function readFields(version: ApiVersion, input: unknown, at: string): Fields {
  const faults: Fault[] = []
  const set: Record<string, unknown> = {}
  const removed: OptionalField[] = []
  if (!isObject(input)) {
    return { set, removed, faults: [{ pointer: at, message: `a diamond is a JSON object, got ${kindOf(input)}` }] }
  }
  const readers = READERS[version]
  const unknown: string[] = []
  for (const name of Object.keys(input)) {
    const reader = readers.get(name)
    const value = input[name]
    if (reader === undefined) {
      if (!ASSIGNED.has(name)) unknown.push(name)
    } else if (value === null) {
      if (isOptional(name)) removed.push(name)
    } else {
      const problem = readInto(set, name, reader, value)
      if (problem !== undefined) faults.push({ pointer: `${at}/${name}`, message: `${name} ${problem}` })
    }
  }
  if (unknown.length > 0) faults.push(...unknownMembers(unknown, `a ${version} diamond`, [...readers.keys()], at))
  return { set, removed, faults }
}

/** @returns what is wrong with the value, if something is */
function readInto(set: Record<string, unknown>, name: string, reader: Reader, value: unknown): string | undefined {
  const result = reader(value)
  if ('problem' in result) return result.problem
  set[name] = result.value
  return undefined
}

/** Of a name that a reader was found for. */
const isOptional = (name: string): name is OptionalField => !FIELDS[name as OptionalField].required
