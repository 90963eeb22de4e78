import { Refusal } from '../../../domain/refusal.ts'
import type { Sent } from './sent.ts'
import { kindOf } from '../../../representations/json.ts'

/** How query and body become one: gives what counts of a name, undefined where that is nothing. @throws Refusal */
export type Rules = (query: Sent, body: Sent) => (name: string, isList: boolean) => unknown

/**
 * As Rack and PHP read parameters: of one that stands twice the last counts; a list is written as `name[]`, `name[0]` or
 * as an array of JSON; what the body has takes the place of what the query has, however each of them is written.
 */
export const byRack: Rules = (query, body) => {
  const inBody = new Set(body.pairs.map(([name]) => bareName(name)))
  const values = new Map<string, unknown[]>()
  for (const [name, value] of [...query.pairs.filter(([name]) => !inBody.has(bareName(name))), ...body.pairs]) {
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return (name, isList) => (isList ? elementsOf(values, name) : (values.get(name)?.at(-1) ?? undefined))
}

type Values = ReadonlyMap<string, readonly unknown[]>

function elementsOf(values: Values, name: string): unknown[] {
  const written = [...values].filter(([key]) => bareName(key) === name)
  return written.flatMap(([key, all]) => (key === `${name}[]` ? all : all.slice(-1))).flat()
}

const bareName = (name: string) => name.replace(/\[\d*\]$/, '')

/** RFC 6749, section 3.2: each stands once, as a text; without a value it counts as absent. What the body has counts. */
export const onceEach: Rules = (query, body) => {
  for (const { pairs, twice } of [query, body]) {
    for (const [name, value] of pairs) {
      if (typeof value === 'string' || value === null) continue
      throw new Refusal('malformed', `${name.slice(0, 40)} must be a text, got ${kindOf(value)}`)
    }
    const repeated = twice()
    if (repeated !== undefined) throw new Refusal('malformed', `The parameter ${repeated.slice(0, 40)} stands twice`)
  }
  const given = [...query.pairs, ...body.pairs].filter(([, value]) => value !== '' && value !== null)
  const values = new Map(given)
  return (name) => values.get(name)
}
