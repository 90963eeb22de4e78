/** The real timers, also while a test uses fake time (test/fake-time.ts). */
const { setTimeout, clearTimeout } = globalThis
const now = performance.now.bind(performance)

/** Milliseconds after which a wait counts as hanging. It is generous, so that a slow machine doesn't fail a test. */
const HANGING = 120_000

/** Milliseconds between two checks. */
const CHECK_INTERVAL = 10

/** Waits until a condition holds. @throws Error that names the condition if it hangs */
export async function until(description: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = now() + HANGING
  while (!(await condition())) {
    if (now() > deadline) throw new Error(`still waiting for ${description}`)
    await new Promise<void>((done) => setTimeout(done, CHECK_INTERVAL))
  }
}

/** Waits for a promise that has to resolve. @throws Error that names it if it hangs */
export async function waitFor<Value>(description: string, promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const hanging = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error(`still waiting for ${description}`)), HANGING)
  })
  try {
    return await Promise.race([promise, hanging])
  } finally {
    clearTimeout(timer)
  }
}
