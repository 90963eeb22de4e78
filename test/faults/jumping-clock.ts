/** Loaded before the service: two minutes pass at each SIGUSR2, by both of the system's clocks. */
const wall = Date.now
const monotonic = performance.now.bind(performance)
let ahead = 0
Date.now = () => wall() + ahead
performance.now = () => monotonic() + ahead
process.on('SIGUSR2', () => {
  ahead += 120_000
})
