/** Loaded before the service: the system's clock is set 30 days ahead at a SIGUSR2, and back at the next. */
const wall = Date.now
let ahead = 0
Date.now = () => wall() + ahead
process.on('SIGUSR2', () => {
  ahead = ahead === 0 ? 30 * 86_400_000 : 0
})
