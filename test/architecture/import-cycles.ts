import type { Module } from './layers.ts'

/**
 * The shortest import cycle of each strongly connected component, as the modules' paths with the first repeated at the
 * end. When that cycle is broken, the next shortest one is reported.
 */
export function importCycles(modules: readonly Module[]): string[][] {
  const graph = new Map(modules.map(({ path, imports }) => [path, imports]))
  return stronglyConnectedComponents(graph).map((component) => shortestCycle(graph, component))
}

type Graph = ReadonlyMap<string, readonly string[]>

/** The strongly connected components: sets of modules that all import each other, directly or not. */
function stronglyConnectedComponents(graph: Graph): ReadonlySet<string>[] {
  const reached = new Map([...graph.keys()].map((path) => [path, reachedFrom(graph, path)]))
  const reaches = (from: string, to: string) => reached.get(from)?.has(to) === true
  const visited = new Set<string>()
  const found: Set<string>[] = []
  for (const path of graph.keys()) {
    if (visited.has(path) || !reaches(path, path)) continue
    const component = new Set([...graph.keys()].filter((other) => reaches(path, other) && reaches(other, path)))
    for (const member of component) visited.add(member)
    found.push(component)
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

function shortestCycle(graph: Graph, component: ReadonlySet<string>): string[] {
  const found = [...component].map((path) => shortestPathBack(graph, path)).toSorted((a, b) => a.length - b.length)
  return found[0] ?? []
}

/** The shortest path from a module back to itself. */
function shortestPathBack(graph: Graph, path: string): string[] {
  const paths: string[][] = [[path]]
  const visited = new Set<string>()
  for (let route = paths.shift(); route !== undefined; route = paths.shift()) {
    for (const next of graph.get(route.at(-1) ?? '') ?? []) {
      if (next === path) return [...route, path]
      if (visited.has(next)) continue
      visited.add(next)
      paths.push([...route, next])
    }
  }
  return []
}
