import type { Module } from './layers.ts'

/**
 * The circles of an import graph, one for each knot of modules that reach each other: the shortest there is in it, as the
 * modules' paths, the first of them once more at the end. Mended, the next shortest shows.
 */
export function circles(modules: readonly Module[]): string[][] {
  const graph = new Map(modules.map(({ path, imports }) => [path, imports]))
  return knots(graph).map((knot) => shortestCircle(graph, knot))
}

type Graph = ReadonlyMap<string, readonly string[]>

/** Sets of modules in each of which every one reaches every other. */
function knots(graph: Graph): ReadonlySet<string>[] {
  const reached = new Map([...graph.keys()].map((path) => [path, reachedFrom(graph, path)]))
  const reaches = (from: string, to: string) => reached.get(from)?.has(to) === true
  const seen = new Set<string>()
  const found: Set<string>[] = []
  for (const path of graph.keys()) {
    if (seen.has(path) || !reaches(path, path)) continue
    const knot = new Set([...graph.keys()].filter((other) => reaches(path, other) && reaches(other, path)))
    for (const member of knot) seen.add(member)
    found.push(knot)
  }
  return found
}

/** What a module imports, directly or by others; itself only by a circle. */
function reachedFrom(graph: Graph, path: string): ReadonlySet<string> {
  const reached = new Set<string>()
  const waiting = [...(graph.get(path) ?? [])]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue
    reached.add(next)
    waiting.push(...(graph.get(next) ?? []))
  }
  return reached
}

function shortestCircle(graph: Graph, knot: ReadonlySet<string>): string[] {
  const found = [...knot].map((path) => wayBack(graph, path)).toSorted((a, b) => a.length - b.length)
  return found[0] ?? []
}

/** The shortest way from a module back to itself. */
function wayBack(graph: Graph, path: string): string[] {
  const ways: string[][] = [[path]]
  const seen = new Set<string>()
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    for (const next of graph.get(way.at(-1) ?? '') ?? []) {
      if (next === path) return [...way, path]
      if (seen.has(next)) continue
      seen.add(next)
      ways.push([...way, next])
    }
  }
  return []
}
