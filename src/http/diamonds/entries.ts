import type { Change, NewDiamond } from '../../domain/diamond/fields.ts'
import { Refusal, type Fault } from '../../domain/refusal.ts'
import { mapInSlices } from '../../runtime/slices.ts'
import { type Parsed, isObject, kindOf, pointerToken, shown } from '../../representations/json.ts'
import { readChange, readNewDiamond } from '../../representations/diamond/read.ts'
import type { ApiVersion } from '../../domain/diamond/field.ts'

export const ENTRIES_MAX = 500

export type IdEntry = { readonly id: number; readonly pointer: string }
export type ChangeEntry = IdEntry & { readonly change: Change }

/** What a bulk request asks for, or what is wrong with it; `named` are all its ids, those of bad entries too. */
export type Entries<Entry> = {
  readonly entries: readonly Entry[]
  readonly named: readonly IdEntry[]
  readonly faults: readonly Fault[]
}

/** The entries of a bulk create. @throws Refusal with the faults of every entry */
export async function parseNewEntries(version: ApiVersion, body: unknown): Promise<NewDiamond[]> {
  const { items, beside } = entriesOf(body)
  const parsed = await mapInSlices(items, (entry, at) => readNewDiamond(version, entry, `/entries/${at}`))
  const faults = faultsOf(beside, parsed)
  if (faults.length > 0) throw new Refusal('invalid', faults)
  return valuesOf(parsed)
}

/** The entries of a bulk modify: an id and what changes, each id once. @throws Refusal where there are none */
export async function parseChangeEntries(version: ApiVersion, body: unknown): Promise<Entries<ChangeEntry>> {
  const { items, beside } = entriesOf(body)
  const ids = idsOf(items)
  const parsed = await mapInSlices(items, (entry, index): Parsed<ChangeEntry> => {
    const pointer = `/entries/${index}`
    const change = readChange(version, entry, pointer)
    const id = ids[index]
    if (id?.value !== undefined && change.value !== undefined) return { value: { ...id.value, change: change.value } }
    return { faults: isObject(entry) ? [...(id?.faults ?? []), ...(change.faults ?? [])] : (change.faults ?? []) }
  })
  return { entries: valuesOf(parsed), named: valuesOf(ids), faults: faultsOf(beside, parsed) }
}

/** The entries of a bulk delete: ids and nothing else. @throws Refusal where there are none */
export function parseIdEntries(body: unknown): Entries<IdEntry> {
  const { items, beside } = entriesOf(body)
  const ids = idsOf(items)
  const parsed = ids.map((id, index): Parsed<IdEntry> => {
    const more = membersBeside(items[index], 'id', `/entries/${index}`)
    return more.length > 0 ? { faults: [...(id.faults ?? []), ...more] } : id
  })
  return { entries: valuesOf(parsed), named: valuesOf(ids), faults: faultsOf(beside, parsed) }
}

/** @throws Refusal invalid, or too-large before anything of an entry is looked at */
function entriesOf(body: unknown): { items: readonly unknown[]; beside: readonly Fault[] } {
  if (!isObject(body)) {
    throw new Refusal('invalid', [{ pointer: '', message: `the body must be {"entries": [...]}, got ${kindOf(body)}` }])
  }
  const items = body['entries']
  const beside = membersBeside(body, 'entries', '')
  if (!Array.isArray(items) || items.length === 0) {
    const got = Array.isArray(items) ? 'an empty one' : kindOf(items)
    const message = `entries must be an array of 1 to ${ENTRIES_MAX} diamonds, got ${got}`
    throw new Refusal('invalid', [{ pointer: '/entries', message }, ...beside])
  }
  if (items.length > ENTRIES_MAX) {
    const message = `entries may have at most ${ENTRIES_MAX} diamonds, got ${items.length}`
    throw new Refusal('too-large', [{ pointer: '/entries', message }])
  }
  return { items, beside }
}

/** Members of one object that are named one by one; a body of nothing else must not make an answer of its size. */
const NAMED = 50

/** What stands beside the one member that is read: it would be lost without a word. */
function membersBeside(value: unknown, only: string, at: string): Fault[] {
  if (!isObject(value)) return []
  const names = Object.keys(value).filter((name) => name !== only)
  const faults = names.slice(0, NAMED).map((name) => ({
    pointer: `${at}/${pointerToken(name.slice(0, 200))}`,
    message: `${name.slice(0, 60)} means nothing here; there is ${only} and nothing else`,
  }))
  const more = names.length - NAMED
  return more > 0 ? [...faults, { pointer: at, message: `${more} more members mean nothing here` }] : faults
}

const idsOf = (items: readonly unknown[]): Parsed<IdEntry>[] => {
  const seen = new Set<number>()
  return items.map((entry, index) => {
    const pointer = `/entries/${index}`
    const { value: id, faults } = idOf(entry, pointer, seen)
    return id === undefined ? { faults: faults ?? [] } : { value: { id, pointer } }
  })
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

function faultsOf(beside: readonly Fault[], parsed: readonly Parsed<unknown>[]): readonly Fault[] {
  const faults = [...beside]
  for (const entry of parsed) faults.push(...told(entry.faults ?? [], faults.length))
  return faults
}

function valuesOf<Value>(parsed: readonly Parsed<Value>[]): Value[] {
  return parsed.flatMap((entry) => (entry.value === undefined ? [] : [entry.value]))
}

/** @param before faults that are told of other entries */
function told(faults: readonly Fault[], before: number): readonly Fault[] {
  const [first] = faults
  if (first === undefined || before + faults.length <= FAULTS_TOLD) return faults
  const more = faults.length - 1
  return [more === 0 ? first : { ...first, message: `${first.message}; ${more} more faults in this entry` }]
}
