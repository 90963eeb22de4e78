import type { Fact } from './certification.ts'
import type { Cell } from './page-cells.ts'
import type { Found } from './report-numbers.ts'

type Value = number | string | Readonly<Record<string, number>>

/** What a text says, by fact. */
export type FactsIn = (text: string) => readonly (Found<Value> & { readonly fact: Fact })[]

/** A fact that a place of a page is the value of: the cell, and the character in it. */
export type Claim = { readonly fact: Fact; readonly value: Value; readonly cell: number; readonly at: number }

/** Cells of a page that are looked at; a report has some two hundred. */
const CELLS = 4_000
/** Heights of letters: so far below its label a value may stand, and the second line of a label below its first. */
const BELOW = 3
const WRAPPED = 1.6
/** How many times as far as another one a label has to be to be out of the question. */
const FARTHER = 3

/** A cell beside another one, and the blank between them in points. */
type Beside = { readonly text: string; readonly index: number; readonly distance: number }

/**
 * What the cells of a page say: each cell by itself, and behind the label that is nearest to its left or above it. Where two
 * labels are about as near, it is claimed for both, and so for neither (`settled`).
 */
export function claimsOf(cells: readonly Cell[], factsIn: FactsIn): readonly Claim[] {
  const seen = cells.slice(0, CELLS)
  const claims: Claim[] = []
  const isValue = new Set<number>()
  for (const [index, cell] of seen.entries()) {
    const own = factsIn(cell.text).map(({ fact, value, at }) => ({ fact, value, cell: index, at }))
    const behind = (label: string): Claim[] => {
      const from = label.length + 1
      const found = factsIn(`${label} ${cell.text}`).filter((one) => one.label < from && one.at >= from)
      return found.map(({ fact, value, at }) => ({ fact, value, cell: index, at: at - from }))
    }
    const side = labelOf(leftOf(seen, index), isValue)
    const top = labelOf(aboveOf(seen, index), isValue)
    const bySide = side === undefined ? [] : behind(side.text)
    let byTop = top === undefined ? [] : behind(top.text)
    if (byTop.length === 0 && top !== undefined) {
      const first = labelOf(aboveOf(seen, top.index, WRAPPED), isValue)
      if (first !== undefined) byTop = behind(`${first.text} ${top.text}`)
    }
    const taken = nearer(bySide, byTop, side?.distance ?? Infinity, top?.distance ?? Infinity)
    if (taken.length > 0) isValue.add(index)
    claims.push(...own, ...taken)
  }
  return claims
}

/** What the nearer label says; both where they are about as near. A label at the side that says nothing is one all the same. */
function nearer(bySide: readonly Claim[], byTop: readonly Claim[], side: number, top: number): readonly Claim[] {
  if (byTop.length === 0) return bySide
  if (side > top * FARTHER) return byTop
  return top > side * FARTHER || bySide.length === 0 ? bySide : [...bySide, ...byTop]
}

/** A cell that may be a label: it has a word and no number, and is no value itself. */
function labelOf(beside: Beside | undefined, isValue: ReadonlySet<number>): Beside | undefined {
  if (beside === undefined || isValue.has(beside.index)) return undefined
  return /\p{L}/u.test(beside.text) && !/\d/.test(beside.text) ? beside : undefined
}

/** The next cell to the left on the same line. */
function leftOf(cells: readonly Cell[], index: number): Beside | undefined {
  const [cell, left] = [cells[index], cells[index - 1]]
  if (cell === undefined || left === undefined || left.y !== cell.y) return undefined
  return { text: left.text, index: index - 1, distance: Math.max(0, cell.left - left.right) }
}

/** The nearest cell above that stands over a part of it. */
function aboveOf(cells: readonly Cell[], index: number, heights = BELOW): Beside | undefined {
  const cell = cells[index]
  if (cell === undefined) return undefined
  let found: (Beside & { readonly y: number; readonly overlap: number }) | undefined
  for (let at = index - 1; at >= 0; at--) {
    const other = cells[at]
    if (other === undefined || cell.y - other.y > heights * Math.max(cell.size, other.size)) break
    if (other.y >= cell.y || (found !== undefined && other.y < found.y)) continue
    const overlap = Math.min(cell.right, other.right) - Math.max(cell.left, other.left)
    if (overlap <= 0 || (found !== undefined && overlap <= found.overlap)) continue
    found = { text: other.text, index: at, distance: Math.max(0, cell.y - cell.size - other.y), y: other.y, overlap }
  }
  return found
}

/** The facts that are claimed in one way alone, and those that may be one thing or another. */
export function settled(claims: readonly (Omit<Claim, 'cell'> & { readonly cell: unknown })[]): {
  readonly facts: ReadonlyMap<Fact, Value>
  readonly unclear: readonly Fact[]
} {
  const claimants = new Map<string, Set<Fact>>()
  const placeOf = ({ cell, at }: { readonly cell: unknown; readonly at: number }) => `${String(cell)}:${at}`
  for (const claim of claims) {
    const facts = claimants.get(placeOf(claim)) ?? new Set<Fact>()
    claimants.set(placeOf(claim), facts.add(claim.fact))
  }
  const values = new Map<Fact, Map<string, Value>>()
  const unclear = new Set<Fact>()
  for (const claim of claims) {
    if ((claimants.get(placeOf(claim))?.size ?? 0) > 1) unclear.add(claim.fact)
    else {
      const said = values.get(claim.fact) ?? new Map<string, Value>()
      values.set(claim.fact, said.set(JSON.stringify(claim.value), claim.value))
    }
  }
  const facts = new Map<Fact, Value>()
  for (const [fact, said] of values) {
    const [value, ...others] = said.values()
    if (value !== undefined && others.length === 0) {
      facts.set(fact, value)
      unclear.delete(fact)
    } else unclear.add(fact)
  }
  return { facts, unclear: [...unclear] }
}
