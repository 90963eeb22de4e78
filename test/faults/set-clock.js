/**
 * Loaded before the service: the system's clock is set 30 days ahead at a SIGUSR2, and back at the next; where
 * `CLOCK_IS_AHEAD` is set, it is ahead from the start. At each SIGHUP two minutes pass, on both of the system's clocks and
 * for whoever waits for ten seconds or longer.
 *
 * JavaScript, since each thread of the service loads it too, and Node 22.14 has no loader for TypeScript there.
 */
const DAYS_30 = 30 * 86_400_000
const TWO_MINUTES = 120_000
const LONG = 10_000
const wall = Date.now
const monotonic = performance.now.bind(performance)
const wait = globalThis.setTimeout
const stopWaiting = globalThis.clearTimeout
let passed = 0
let ahead = process.env['CLOCK_IS_AHEAD'] === undefined ? 0 : DAYS_30
/** What waits long, with the time by which it is due. */
const waiting = new Map()

Date.now = () => wall() + passed + ahead
performance.now = () => monotonic() + passed
globalThis.setTimeout = Object.assign((run, ms = 0, ...given) => {
  if (ms < LONG) return wait(run, ms, ...given)
  const fire = () => {
    waiting.delete(timer)
    run(...given)
  }
  const timer = wait(fire, ms)
  waiting.set(timer, { due: performance.now() + ms, fire })
  return timer
}, wait)
globalThis.clearTimeout = (timer) => {
  waiting.delete(timer)
  stopWaiting(timer)
}
process.on('SIGUSR2', () => {
  ahead = ahead === 0 ? DAYS_30 : 0
})
process.on('SIGHUP', () => {
  passed += TWO_MINUTES
  for (const [timer, { due, fire }] of waiting) {
    if (due > performance.now()) continue
    stopWaiting(timer)
    fire()
  }
})
