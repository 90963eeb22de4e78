import { z } from 'zod'
import type { ApiVersion } from '../../domain/diamond/field.ts'
import type { NewDiamond } from '../../domain/diamond/fields.ts'
import { Refusal, type Fault } from '../../domain/decider.ts'
import { readChangesOfOne, readNewDiamond, type ChangesOfOne } from '../../representations/diamond/read.ts'
import { isObject, type Parsed } from '../../representations/json.ts'
import { atMost, DIAMOND_ID, diamondIn, must, objectOf, parse } from '../../representations/parse.ts'
import { mapInSlices } from '../../runtime/event-loop.ts'

/** Diamonds of one bulk request at most. */
const ENTRIES_MAX = 500

const RIGHT = `an array of 1 to ${ENTRIES_MAX} diamonds`

/** The body of a bulk request. */
export const bulkOf = (entry: z.ZodType) =>
  objectOf(
    {
      entries: z
        .array(entry, must(RIGHT))
        .min(1, `must be ${RIGHT}, got an empty one`)
        .max(ENTRIES_MAX, atMost(ENTRIES_MAX, 'diamonds')),
    },
    'a bulk request',
    '{"entries": [...]}',
  )

const BULK = bulkOf(z.unknown())

/** What stands in a bulk delete. */
export const ID_ALONE = objectOf({ id: DIAMOND_ID }, 'an entry', '{"id": 337}')

export type IdEntry = { readonly id: number; readonly pointer: string }
export type ChangeEntry = IdEntry & ChangesOfOne

/** What a bulk request asks for, or what is wrong with it; `named` are all its ids, those of bad entries too. */
export type Entries<Entry> = {
  readonly entries: readonly Entry[]
  readonly named: readonly IdEntry[]
  readonly faults: readonly Fault[]
}

/** The entries of a bulk create. @throws Refusal with the faults of every entry */
export async function parseNewEntries(version: ApiVersion, body: unknown): Promise<NewDiamond[]> {
  const { items, beside } = itemsOf(body)
  const parsed = await mapInSlices(items, (entry, at) => readNewDiamond(version, entry, pointerTo(at)))
  const faults = faultsOf(beside, parsed)
  if (faults.length > 0) throw new Refusal('invalid', faults)
  return valuesOf(parsed)
}

/** The entries of a bulk modify: an id and what changes, each id once. @throws Refusal where there are none */
export const parseChangeEntries = (version: ApiVersion, body: unknown): Promise<Entries<ChangeEntry>> =>
  entriesOf(body, (entry, at) => readChangesOfOne(version, entry, at))

/** The entries of a bulk delete: ids and nothing else. @throws Refusal where there are none */
export const parseIdEntries = (body: unknown): Promise<Entries<IdEntry>> =>
  entriesOf(body, (entry, at) => parse(ID_ALONE, entry, { of: 'an entry to delete', known: ['id'] }, at))

const pointerTo = (index: number) => `/entries/${index}`

/** Entries that name their diamonds: one id twice would leave open which of them counts. */
async function entriesOf<Entry extends { readonly id: number }>(
  body: unknown,
  read: (entry: unknown, at: string) => Parsed<Entry>,
): Promise<Entries<Entry & IdEntry>> {
  const { items, beside } = itemsOf(body)
  const named = new Map<number, IdEntry>()
  const parsed = await mapInSlices(items, (item, index): Parsed<Entry & IdEntry> => {
    const pointer = pointerTo(index)
    const { value, faults = [] } = read(item, pointer)
    const id = value === undefined ? diamondIn(item, 'id') : value.id
    if (id !== undefined && named.has(id)) {
      const repeated = { pointer: `${pointer}/id`, message: `id ${id} stands in more than one entry` }
      return { faults: [repeated, ...faults] }
    }
    if (id !== undefined) named.set(id, { id, pointer })
    return value === undefined ? { faults } : { value: { ...value, pointer } }
  })
  return { entries: valuesOf(parsed), named: [...named.values()], faults: faultsOf(beside, parsed) }
}

/** @throws Refusal invalid, or too-large before anything of an entry is looked at */
function itemsOf(body: unknown): { readonly items: readonly unknown[]; readonly beside: readonly Fault[] } {
  const { value, faults = [] } = parse(BULK, body, { of: 'a bulk request', known: ['entries'] })
  if (value !== undefined) return { items: value.entries, beside: [] }
  const items = isObject(body) ? body['entries'] : undefined
  if (!Array.isArray(items) || faults.some(({ pointer }) => pointer === '/entries')) {
    throw new Refusal(Array.isArray(items) && items.length > ENTRIES_MAX ? 'too-large' : 'invalid', faults)
  }
  return { items, beside: faults }
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
