import { startPeer } from './peer.ts'

/**
 * The peer as a process: prints its connection string, and ends by SIGTERM. `node --import tsx main.ts`
 * A parent that has a channel to it can say `down` and `up` there (peer-process.ts), and takes it along when it ends.
 */
const peer = await startPeer()
const alive = setInterval(() => {}, 60_000)
process.once('SIGTERM', () => {
  clearInterval(alive)
  void peer.stop().then(() => process.exit(0))
})
process.on('message', (order: 'down' | 'up') => void peer[order]().then(() => process.send?.(order)))
process.once('disconnect', () => process.exit(1))
console.log(peer.url)
