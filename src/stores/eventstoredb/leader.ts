/** Asks a node which one leads, as far as it knows. */
export type AskLeader = (node: string) => Promise<string | undefined>

/**
 * Asks all nodes at once which of them leads. A stopped leader is still named by the others until they have elected another
 * one, and one that was deposed while it was stopped names itself for a while: so the one that most name must answer,
 * and name itself. None of the nodes is waited for when the others are more than half of all.
 * @returns undefined where there is none now
 */
export async function findLeader(nodes: readonly string[], ask: AskLeader): Promise<string | undefined> {
  const named = await mostNamed(nodes, ask)
  if (named === undefined) return undefined
  // No answer is an answer here; what was wrong is kept by whoever asks.
  const itself = await ask(named).catch(() => undefined)
  return itself === named ? named : undefined
}

/** What more than half say: of all as soon as they have said it, else of those that answer at all. */
function mostNamed(nodes: readonly string[], ask: AskLeader): Promise<string | undefined> {
  const votes = new Map<string | undefined, number>()
  let [answers, settled] = [0, 0]
  return new Promise((resolve) => {
    const settle = () => {
      settled++
      const all = settled === nodes.length ? answers : nodes.length
      const elected = [...votes].find(([, count]) => count * 2 > all)
      if (elected !== undefined || settled === nodes.length) resolve(elected?.[0])
    }
    const count = (leader: string | undefined) => {
      answers++
      votes.set(leader, (votes.get(leader) ?? 0) + 1)
    }
    for (const node of nodes)
      ask(node)
        // A node that does not answer has no vote; what was wrong is kept by whoever asks.
        .then(count, () => undefined)
        .then(settle)
  })
}
