import { FIELDS, FILTERED } from '../../domain/diamond/fields.ts'

/** The filters of the interface that are yes or no: every combination of them has an index by date. */
const FLAGS = FILTERED.filter((name) => FIELDS[name].kind === 'flag')
const TEXTS = FILTERED.filter((name) => FIELDS[name].kind !== 'flag')

const subsets = <Item>(items: readonly Item[]): Item[][] =>
  items.reduce<Item[][]>((sets, item) => [...sets, ...sets.map((set) => [...set, item])], [[]])

const NEWEST = ['date', 'id'] as const

/**
 * Fields of few values, which the indexes of v4's orders begin with: what is asked for of them are reaches of an index, and a
 * list without them merges all. So one index serves an order with any of these filters.
 */
export const CELL = ['isLabGrown', 'isColored', 'shape'] as const

const inCells = (...order: readonly string[]) => ['owner', ...CELL, ...order]

/** The interface's filter by sku, in its order. */
export const BY_SKU = ['owner', 'sku', ...NEWEST] as const

/** The index of each order. */
export const ORDERED = {
  date: inCells('date', 'id'),
  price: inCells('price', 'id'),
  integral: inCells('integral', 'id'),
  sku: ['owner', 'sku', 'id'],
  /** Beside its order it has all that lists filter and order by: other combinations walk along it, as far as that may be. */
  carat: [
    ...inCells('carat', 'tie'),
    ...(['date', 'color', 'clarity', 'price', 'integral', 'hasScores', 'cutShape', 'sku'] as const),
  ],
} as const satisfies Record<string, readonly string[]>

export const INDEXES: readonly (readonly string[])[] = [
  ...subsets(FLAGS).map((flags) => ['owner', ...flags, ...NEWEST]),
  ...TEXTS.map((name) => ['owner', name, ...NEWEST]),
  ...Object.values(ORDERED),
]

/** By which documents are counted as they are written. */
export const COUNTED = ['owner', ...FLAGS, ...CELL.filter((name) => name !== 'isColored')]
