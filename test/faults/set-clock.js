/**
 * Loaded before the service: the system's clock is set 30 days ahead at a SIGUSR2, and back at the next; where
 * `CLOCK_IS_AHEAD` is set, it is ahead from the start. Where `CLOCK_SPEED` is set, time passes so many times as fast, on
 * both of the system's clocks and for whoever waits for ten seconds or longer.
 *
 * JavaScript, since each thread of the service loads it too, and Node 22.14 has no loader for TypeScript there.
 */
const DAYS_30 = 30 * 86_400_000
const LONG = 10_000
const wall = Date.now
const monotonic = performance.now.bind(performance)
const wait = globalThis.setTimeout
const speed = Number(process.env['CLOCK_SPEED'] ?? 1)
const began = { wall: wall(), monotonic: monotonic() }
let ahead = process.env['CLOCK_IS_AHEAD'] === undefined ? 0 : DAYS_30

Date.now = () => began.wall + (wall() - began.wall) * speed + ahead
performance.now = () => began.monotonic + (monotonic() - began.monotonic) * speed
globalThis.setTimeout = Object.assign((run, ms = 0, ...given) => wait(run, ms < LONG ? ms : ms / speed, ...given), wait)
process.on('SIGUSR2', () => {
  ahead = ahead === 0 ? DAYS_30 : 0
})
