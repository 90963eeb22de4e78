/**
 * A copy of a value as JSON gives it back: a later change of the original does not reach it.
 * Plain values are copied member by member, which costs a fifth of parsing; anything else is parsed from its `text`.
 */
export function jsonValue<Value>(value: Value, text: string): Value {
  const copy = copyOf(value)
  return copy === NOT_PLAIN ? JSON.parse(text) : copy
}

const NOT_PLAIN = Symbol('not plain')

function copyOf<Value>(value: Value): Value | typeof NOT_PLAIN
function copyOf(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? value : NOT_PLAIN
    case 'object':
      if (value === null) return null
      return Array.isArray(value) ? copyArray(value) : copyObject(value)
    default:
      return NOT_PLAIN
  }
}

function copyArray(values: readonly unknown[]): unknown {
  const copy: unknown[] = []
  for (const value of values) {
    const member = copyOf(value)
    if (member === NOT_PLAIN) return NOT_PLAIN
    copy.push(member)
  }
  return copy
}

function copyObject(value: object): unknown {
  if (Object.getPrototypeOf(value) !== Object.prototype || 'toJSON' in value) return NOT_PLAIN
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const member = copyOf((value as Record<string, unknown>)[key])
    if (member === NOT_PLAIN || key === '__proto__') return NOT_PLAIN
    copy[key] = member
  }
  return copy
}
