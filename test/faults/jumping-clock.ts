/** Imported before the service: each SIGUSR2 advances both system clocks by two minutes. */
const wall = Date.now
const monotonic = performance.now.bind(performance)
let ahead = 0
Date.now = () => wall() + ahead
performance.now = () => monotonic() + ahead
process.on('SIGUSR2', () => {
  ahead += 120_000
})
