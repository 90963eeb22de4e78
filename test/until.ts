/** Waits until something holds. @throws Error with what it waited for, after a minute unless told */
export async function until(what: string, holds: () => boolean | Promise<boolean>, ms = 60_000): Promise<void> {
  const deadline = performance.now() + ms
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`still waiting for ${what}`)
    await pause(LOOK)
  }
}

/** Milliseconds between two looks. */
const LOOK = 10

export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))
