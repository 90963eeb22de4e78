/** Loaded before the service: its clock jumps two minutes ahead at each SIGUSR2. */
const real = Date.now
let ahead = 0
Date.now = () => real() + ahead
process.on('SIGUSR2', () => {
  ahead += 120_000
})
