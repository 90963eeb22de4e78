import { FIELDS, type Change, type FieldName, fieldsOf } from '../../domain/diamond/fields.ts'
import { writeOf } from '../../representations/diamond/body.ts'
import { count } from '../progress-bar.ts'

type Value = string | number | boolean | null

/** What the stones of a file have in a field: how many have it, and between what, or which values. */
export type Held = {
  readonly stones: number
  readonly from?: number
  readonly to?: number
  readonly values?: readonly Value[]
}

/** Stones that are shown whole. */
const FIRST = 3
/** Values of a field that are named. */
const NAMED = 12

const MEMBERS = fieldsOf('v4').map((name) => ({ name, write: writeOf(FIELDS[name], 'v4') }))

/** What a file's stones have, as they would be stored and shown, so that a person sees what was misread. */
export class Contents {
  readonly first: Readonly<Record<string, Value>>[] = []
  readonly #fields = new Map<FieldName, Field>()
  #stones = 0

  saw({ set }: Change): void {
    this.#stones++
    const shown: Record<string, Value> = {}
    for (const { name, write } of MEMBERS) {
      if (set[name] === undefined) continue
      const value = JSON.parse(write(set[name])) as Value
      shown[name] = value
      const field = this.#fields.get(name) ?? new Field(name)
      this.#fields.set(name, field)
      field.saw(value)
    }
    if (this.first.length < FIRST) this.first.push(shown)
  }

  /** By field, in the order of a diamond's body. */
  get fields(): Readonly<Partial<Record<FieldName, Held>>> {
    const held = MEMBERS.flatMap(({ name }) => {
      const field = this.#fields.get(name)
      return field === undefined ? [] : [[name, field.held] as const]
    })
    return Object.fromEntries(held)
  }

  /** The same as lines for people. */
  get told(): readonly string[] {
    const stones = this.first.map((stone) => {
      const members = Object.entries(stone).map(([name, value]) => `${name} ${String(value)}`)
      return `  ${members.join(', ')}`
    })
    const fields = Object.entries(this.fields).map(([name, held]) => `  ${name}: ${this.#toldOf(held)}`)
    if (stones.length === 0) return []
    return ['the first stones as they would be stored:', ...stones, 'what all of them have:', ...fields]
  }

  #toldOf({ stones, from, to, values }: Held): string {
    const all = stones === this.#stones ? '' : ` (${count(stones)} of ${count(this.#stones)} stones)`
    if (from !== undefined) return `${from} to ${to}${all}`
    if (values === undefined) return stones === 1 ? 'a text' : `${count(stones)} texts`
    return `${values.join(', ')}${values.length === NAMED ? ' and maybe others' : ''}${all}`
  }
}

class Field {
  #stones = 0
  #from = Infinity
  #to = -Infinity
  readonly #values = new Set<Value>()

  constructor(private readonly name: FieldName) {}

  saw(value: Value): void {
    this.#stones++
    if (typeof value === 'number') {
      this.#from = Math.min(this.#from, value)
      this.#to = Math.max(this.#to, value)
    }
    if (this.#values.size < NAMED) this.#values.add(value)
  }

  get held(): Held {
    const stones = this.#stones
    switch (FIELDS[this.name].kind) {
      case 'amount':
      case 'level':
        return { stones, from: this.#from, to: this.#to }
      case 'text':
        return { stones }
      default:
        return { stones, values: [...this.#values] }
    }
  }
}
