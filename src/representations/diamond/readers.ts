import type { ApiVersion, Bounds, Field } from '../../domain/diamond/field.ts'
import { FIELD_NAMES, FIELDS } from '../../domain/diamond/fields.ts'
import type { Dictionary } from '../../domain/dictionaries/dictionary.ts'
import type { Scale } from '../../domain/dictionaries/girdle.ts'
import { isShapeId, mistypedShape, parseShape } from '../../domain/dictionaries/shapes.ts'
import { readText, shown } from '../json.ts'

/** Reads one JSON value other than null; a problem completes the sentence that starts with the field's name. */
export type Reader = (value: unknown) => { readonly value: unknown } | { readonly problem: string }

/** No dictionary has a longer word: what is longer is not looked up, which takes time that grows with it. */
const WORD_MAX = 100

/** How a version reads a field, by the field's kind. */
function readerOf(field: Field, version: ApiVersion): Reader {
  switch (field.kind) {
    case 'text':
      return textUpTo(field.to)
    case 'amount':
      return amountWithin(field)
    case 'flag':
      return flag
    case 'shape':
      return version === 'v3' ? shapeById : shapeByName(field.to)
    case 'entry':
      return version === 'v3' ? byId(field.dictionary) : byName(field.dictionary)
    case 'scale':
      return onScale(field.scale)
    case 'level':
      return level
  }
}

const textUpTo =
  (max: number): Reader =>
  (value) => {
    const text = readText(value, max)
    if (text !== undefined) return { value: text }
    return { problem: `must be a text of 1 to ${max} characters, without control characters, got ${shown(value)}` }
  }

/** `over 0 and at most 10000`, `of at least 0` */
function boundsText({ over, from, to }: Bounds): string {
  const low = over === undefined ? `of at least ${from ?? -Infinity}` : `over ${over}`
  return to === undefined ? low : `${low} and at most ${to}`
}

function amountWithin(bounds: Bounds): Reader {
  const { over = -Infinity, from = -Infinity, to = Number.MAX_VALUE } = bounds
  const right = `must be a number ${boundsText(bounds)}`
  return (value) =>
    typeof value === 'number' && value > over && value >= from && value <= to
      ? // Without the sign of -0, which JSON would keep.
        { value: value + 0 }
      : { problem: `${right}, got ${shown(value)}` }
}

const flag: Reader = (value) =>
  typeof value === 'boolean' ? { value } : { problem: `must be true or false, got ${shown(value)}` }

const level: Reader = (value) =>
  value === 0 || value === 1 || value === 2 ? { value } : { problem: `must be 0, 1 or 2, got ${shown(value)}` }

/** The integer id: all that v3 takes. */
const byId =
  ({ name, has }: Dictionary): Reader =>
  (value) =>
    typeof value === 'number' && has(value)
      ? { value }
      : { problem: `must be an id of the dictionary ${name}, got ${shown(value)}` }

/** The title, the short form, an alias, or the id. */
const byName =
  ({ name, has, find }: Dictionary): Reader =>
  (value) => {
    if (typeof value === 'number' && has(value)) return { value }
    const id = isWord(value) ? find(value) : undefined
    if (id !== undefined) return { value: id }
    return { problem: `must be a title, short form, alias or id of the dictionary ${name}, got ${shown(value)}` }
  }

const shapeById: Reader = (value) =>
  typeof value === 'number' && isShapeId(value)
    ? { value }
    : { problem: `must be an id of the dictionary cutShape, got ${shown(value)}` }

/** A shape that no dictionary knows is kept as it was written, unless it is a known one mistyped: that has no scores. */
const shapeByName =
  (max: number): Reader =>
  (value) => {
    if (typeof value === 'number') return shapeById(value)
    const text = readText(value, max)
    if (text === undefined || /^\d+$/.test(text)) {
      const own = `another text of 1 to ${max} characters, without control characters and not digits alone`
      return { problem: `must be a cut shape's title, alias or id, or ${own}, got ${shown(value)}` }
    }
    const known = parseShape(text)
    const meant = known === undefined ? mistypedShape(text) : undefined
    if (meant === undefined) return { value: known ?? text }
    return {
      problem: `must be a known cut shape, or one that is no misspelling of it; did you mean ${meant}? got ${shown(value)}`,
    }
  }

const onScale =
  ({ read, means }: Scale): Reader =>
  (value) => {
    const found = isWord(value) ? read(value) : undefined
    return found !== undefined ? { value: found } : { problem: `must be ${means}, got ${shown(value)}` }
  }

const isWord = (value: unknown): value is string => typeof value === 'string' && value.length <= WORD_MAX

/** The fields that a version has, in the table's order. */
export const fieldsOf = (version: ApiVersion) =>
  FIELD_NAMES.filter((name) => (FIELDS[name].versions as readonly ApiVersion[]).includes(version))

const readers = (version: ApiVersion): ReadonlyMap<string, Reader> =>
  new Map(fieldsOf(version).map((name) => [name, readerOf(FIELDS[name], version)]))

/** The writable fields of a version's diamond and how each is read. */
export const READERS: Readonly<Record<ApiVersion, ReadonlyMap<string, Reader>>> = {
  v3: readers('v3'),
  v4: readers('v4'),
}
