import type { Module } from './layers.ts'

/**
 * The shortest import cycle of each strongly connected component, as the modules' paths with the first repeated at the
 * end. When that cycle is broken, the next shortest one is reported.
 */
export function importCycles(modules: readonly Module[]): string[][] {
  const graph = new Map(modules.map(({ path, imports }) => [path, imports]))
  return stronglyConnectedComponents(graph).map((knot) => shortestCycle(graph, knot))
}

type Graph = ReadonlyMap<string, readonly string[]>

/** The strongly connected components: sets of modules that all import each other, directly or not. */
function stronglyConnectedComponents(graph: Graph): ReadonlySet<string>[] {
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

/** The modules that a module imports, directly or transitively. It includes itself only in a cycle. */
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

function shortestCycle(graph: Graph, knot: ReadonlySet<string>): string[] {
  const found = [...knot].map((path) => shortestPathBack(graph, path)).toSorted((a, b) => a.length - b.length)
  return found[0] ?? []
}

/** The shortest path from a module back to itself. */
function shortestPathBack(graph: Graph, path: string): string[] {
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
