import { nearest } from '../domain/dictionaries/nearest.ts'
import type { Fault } from '../domain/refusal.ts'
import { pointerToken } from './json.ts'

/** Members of one object that are named one by one; a body of nothing else must not make an answer of its size. */
const NAMED = 50
/** Characters of a name that a pointer and a message repeat. */
const IN_POINTER = 200
const IN_MESSAGE = 60

/**
 * A fault for each member that an object should not have, with the nearest one that it may have.
 * @param of what the object is, such as `a v4 diamond`
 * @param at JSON Pointer of the object
 */
export function unknownMembers(names: readonly string[], of: string, known: readonly string[], at: string): Fault[] {
  const faults: Fault[] = names.slice(0, NAMED).map((name) => {
    const near = nearest(name, known)
    const hint = near === undefined ? '' : `; did you mean ${near}?`
    const pointer = `${at}/${pointerToken(name.slice(0, IN_POINTER))}`
    return { pointer, message: `${name.slice(0, IN_MESSAGE)} is no field of ${of}${hint}` }
  })
  const more = names.length - NAMED
  if (more > 0) faults.push({ pointer: at, message: `${more} more fields are none of ${of}` })
  return faults
}
