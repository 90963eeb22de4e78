/** One field whose shown value differs; null where there was nothing to show, or there is nothing now. */
export type Change = { readonly field: string; readonly from: unknown; readonly to: unknown }

/** A thing as it was shown at some time, by its members; null where there was no such thing. */
export type State = Readonly<Record<string, unknown>> | null

/**
 * What differs between two states, in the order of their members. Of a list of things that have ids each that differs is a
 * change of its own, as a whole. A thing that comes into being or goes shows all that is not null.
 */
export function changesBetween(before: State, after: State): Change[] {
  const fields = new Set([...Object.keys(after ?? {}), ...Object.keys(before ?? {})])
  return [...fields].flatMap((field) => changesOf(field, before?.[field] ?? null, after?.[field] ?? null))
}

function changesOf(field: string, from: unknown, to: unknown): Change[] {
  if (!areThings(from) || !areThings(to)) return isSame(from, to) ? [] : [{ field, from, to }]
  const [before, after] = [byId(from), byId(to)]
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((id) => {
    const [was, is] = [before.get(id) ?? null, after.get(id) ?? null]
    return isSame(was, is) ? [] : [{ field, from: was, to: is }]
  })
}

type Thing = { readonly id: unknown }

const isThing = (value: unknown): value is Thing => typeof value === 'object' && value !== null && 'id' in value

/** A list of things; also an empty one, and none at all, beside which the other one decides. */
const areThings = (value: unknown) => value === null || (Array.isArray(value) && value.every(isThing))

const byId = (value: unknown) => new Map(Array.isArray(value) ? value.map((thing: Thing) => [thing.id, thing]) : [])

/** Both come from one writer: equal values have equal texts. */
const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
