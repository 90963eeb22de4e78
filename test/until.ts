/** Timers of the system, also where a test's own time stands still (test/fake-time.ts). */
const { setTimeout, clearTimeout } = globalThis
const now = performance.now.bind(performance)

/** Milliseconds after which what is waited for counts as hanging: never as slow. */
const HANGING = 120_000

/** Milliseconds between two looks. */
const LOOK = 10

/** Waits until something holds. @throws Error with what it waited for when it hangs */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = now() + HANGING
  while (!(await holds())) {
    if (now() > deadline) throw new Error(`still waiting for ${what}`)
    await new Promise<void>((done) => setTimeout(done, LOOK))
  }
}

/** Waits for something that has to come. @throws Error with what it waited for when it hangs */
export async function comes<Value>(what: string, coming: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const hanging = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error(`still waiting for ${what}`)), HANGING)
  })
  try {
    return await Promise.race([coming, hanging])
  } finally {
    clearTimeout(timer)
  }
}
