/**
 * Runs `work` to its end.
 * @param work is given a function that returns the turns of the event loop since its start
 * @returns the turns of the event loop meanwhile
 */
export async function countTurns(work: (turnsSoFar: () => number) => Promise<unknown>): Promise<number> {
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  try {
    await work(() => turns)
  } finally {
    isDone = true
  }
  return turns
}
