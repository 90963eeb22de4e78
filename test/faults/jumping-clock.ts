/** Imported before the service: each SIGUSR2 advances both system clocks by two minutes. */
const wall = Date.now
const monotonic = performance.now.bind(performance)
let offsetMs = 0
Date.now = () => wall() + offsetMs
performance.now = () => monotonic() + offsetMs
process.on('SIGUSR2', () => {
  offsetMs += 120_000
})
