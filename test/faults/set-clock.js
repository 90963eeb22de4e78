/**
 * Imported before the service. SIGUSR2 sets the wall clock 30 days ahead, the next one sets it back; with the environment
 * variable `CLOCK_IS_AHEAD` it starts ahead. SIGHUP advances both system clocks by two minutes and fires the timers of ten
 * seconds or longer that are then due.
 *
 * This is JavaScript because each thread of the service loads it too, where Node 22.14 has no TypeScript loader.
 */
const DAYS_30 = 30 * 86_400_000
const TWO_MINUTES = 120_000
const LONG = 10_000
const wall = Date.now
const monotonic = performance.now.bind(performance)
const wait = globalThis.setTimeout
const stop = globalThis.clearTimeout
let passed = 0
let ahead = process.env['CLOCK_IS_AHEAD'] === undefined ? 0 : DAYS_30
/** Long timers with the time when they are due. */
const waiting = new Map()

Date.now = () => wall() + passed + ahead
performance.now = () => monotonic() + passed
globalThis.setTimeout = Object.assign((run, ms = 0, ...args) => {
  if (ms < LONG) return wait(run, ms, ...args)
  const fire = () => {
    waiting.delete(timer)
    run(...args)
  }
  const timer = wait(fire, ms)
  waiting.set(timer, { due: performance.now() + ms, fire })
  return timer
}, wait)
globalThis.clearTimeout = (timer) => {
  waiting.delete(timer)
  stop(timer)
}
process.on('SIGUSR2', () => {
  ahead = ahead === 0 ? DAYS_30 : 0
})
process.on('SIGHUP', () => {
  passed += TWO_MINUTES
  for (const [timer, { due, fire }] of waiting) {
    if (due > performance.now()) continue
    stop(timer)
    fire()
  }
})
