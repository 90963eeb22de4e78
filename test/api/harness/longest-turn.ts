/** Milliseconds of processor time that this thread has used: what a busy machine takes from it does not count. */
const used = (): number => {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1000
}

/**
 * Runs something and tells how long the event loop was held at most without a turn for others.
 * @returns milliseconds of processor time
 */
export async function longestTurn(run: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let last = used()
  let watching: NodeJS.Immediate | undefined
  const look = () => {
    const now = used()
    longest = Math.max(longest, now - last)
    last = now
    watching = setImmediate(look)
  }
  look()
  try {
    await run()
  } finally {
    clearImmediate(watching)
  }
  return Math.max(longest, used() - last)
}
