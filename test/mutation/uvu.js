/**
 * A replacement for uvu in mutation tests. It collects the tests, so that each can run individually and repeatedly in one
 * process: once for each mutant that it covers.
 */

/** @type {{ name: string, run: () => Promise<void> }[]} */
export const collected = []

const hooks = () => ({ before: [], after: [], each: [], afterEach: [] })

/** @param {string} title @param {object} [given] the context */
export function suite(title, given = {}) {
  const tests = []
  const own = hooks()
  let isOnly = false
  const test = (name, handler) => tests.push({ name, handler, only: false })
  test.only = (name, handler) => {
    isOnly = true
    tests.push({ name, handler, only: true })
  }
  test.skip = () => undefined
  test.before = (handler) => own.before.push(handler)
  test.before.each = (handler) => own.each.push(handler)
  test.after = (handler) => own.after.push(handler)
  test.after.each = (handler) => own.afterEach.push(handler)
  test.run = () => {
    for (const { name, handler, only } of tests) {
      if (isOnly && !only) continue
      collected.push({ name: `${title} ${name}`, run: () => runOne(handler, own, given) })
    }
  }
  return test
}

export const test = suite('')

/** Runs a test with the hooks of its suite, on a new context. */
async function runOne(handler, own, given) {
  const context = { ...given }
  try {
    for (const hook of own.before) await hook(context)
    for (const hook of own.each) await hook(context)
    await handler(context)
  } finally {
    for (const hook of own.afterEach) await hook(context)
    for (const hook of own.after) await hook(context)
  }
}
