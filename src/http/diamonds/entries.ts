import { isObject, kindOf, parseChange, parseNewDiamond, type Parsed } from '../../domain/diamond/input.ts'
import type { Change, NewDiamond } from '../../domain/diamond/fields.ts'
import type { ApiVersion } from '../../domain/diamond/readers.ts'
import { shown } from '../../domain/diamond/shown.ts'
import { Refusal, type Fault } from '../../domain/refusal.ts'
import { mapInSlices } from '../../slices.ts'

export const ENTRIES_MAX = 500

export type ChangeEntry = { readonly id: number; readonly change: Change; readonly pointer: string }
export type IdEntry = { readonly id: number; readonly pointer: string }

/** The entries of a bulk create. @throws Refusal with the faults of every entry */
export async function parseNewEntries(version: ApiVersion, body: unknown): Promise<NewDiamond[]> {
  return allOf(await mapInSlices(entriesOf(body), (entry, at) => parseNewDiamond(version, entry, `/entries/${at}`)))
}

/** The entries of a bulk modify: an id and what changes, each id once. @throws Refusal */
export async function parseChangeEntries(version: ApiVersion, body: unknown): Promise<ChangeEntry[]> {
  const seen = new Set<number>()
  return allOf(
    await mapInSlices(entriesOf(body), (entry, index): Parsed<ChangeEntry> => {
      const pointer = `/entries/${index}`
      const id = idOf(entry, pointer, seen)
      const change = parseChange(version, entry, pointer)
      if (id.value !== undefined && change.value !== undefined) {
        return { value: { id: id.value, change: change.value, pointer } }
      }
      return { faults: isObject(entry) ? [...(id.faults ?? []), ...(change.faults ?? [])] : (change.faults ?? []) }
    }),
  )
}

/** The entries of a bulk delete. Other members of an entry mean nothing. @throws Refusal */
export function parseIdEntries(body: unknown): IdEntry[] {
  const seen = new Set<number>()
  return allOf(
    entriesOf(body).map((entry, index): Parsed<IdEntry> => {
      const pointer = `/entries/${index}`
      const id = idOf(entry, pointer, seen)
      return id.value === undefined ? { faults: id.faults } : { value: { id: id.value, pointer } }
    }),
  )
}

function entriesOf(body: unknown): unknown[] {
  if (!isObject(body)) {
    throw new Refusal('invalid', [{ pointer: '', message: `the body must be {"entries": [...]}, got ${kindOf(body)}` }])
  }
  const entries = body['entries']
  if (!Array.isArray(entries) || entries.length === 0) {
    const got = Array.isArray(entries) ? 'an empty one' : kindOf(entries)
    const message = `entries must be an array of 1 to ${ENTRIES_MAX} diamonds, got ${got}`
    throw new Refusal('invalid', [{ pointer: '/entries', message }])
  }
  if (entries.length > ENTRIES_MAX) {
    const message = `entries may have at most ${ENTRIES_MAX} diamonds, got ${entries.length}`
    throw new Refusal('too-large', [{ pointer: '/entries', message }])
  }
  return entries
}

/** @param seen the ids of the entries before: one id twice would leave open which entry counts */
function idOf(entry: unknown, pointer: string, seen: Set<number>): Parsed<number> {
  if (!isObject(entry)) {
    return { faults: [{ pointer, message: `an entry is a JSON object with an id, got ${kindOf(entry)}` }] }
  }
  const id = entry['id']
  const fault = (message: string) => ({ faults: [{ pointer: `${pointer}/id`, message }] })
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 1) {
    return fault(`id must be an integer from 1 to ${Number.MAX_SAFE_INTEGER}, got ${shown(id)}`)
  }
  if (seen.has(id)) return fault(`id ${id} stands in more than one entry`)
  seen.add(id)
  return { value: id }
}

/** Faults of one answer that are told one by one; past them each bad entry is named with its first fault. */
const FAULTS_TOLD = 1_000

function allOf<Value>(parsed: readonly Parsed<Value>[]): Value[] {
  const faults: Fault[] = []
  for (const entry of parsed) faults.push(...told(entry.faults ?? [], faults.length))
  if (faults.length > 0) throw new Refusal('invalid', faults)
  return parsed.flatMap((entry) => (entry.value === undefined ? [] : [entry.value]))
}

/** @param before faults that are told of other entries */
function told(faults: readonly Fault[], before: number): readonly Fault[] {
  const [first] = faults
  if (first === undefined || before + faults.length <= FAULTS_TOLD) return faults
  const more = faults.length - 1
  return [more === 0 ? first : { ...first, message: `${first.message}; ${more} more faults in this entry` }]
}
