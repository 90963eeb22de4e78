import { startPeer } from './peer.ts'

/**
 * Runs the peer as a process: `node --import tsx main.ts`. It prints its connection string and ends on SIGTERM. A parent with an
 * IPC channel can send `down` and `up` (peer-process.ts); the peer ends when the channel closes.
 */
const peer = await startPeer()
peer.faults.stallOnConcurrentReads()
const alive = setInterval(() => {}, 60_000)
process.once('SIGTERM', () => {
  clearInterval(alive)
  void peer.stop().then(() => process.exit(0))
})
process.on('message', (command: 'down' | 'up') => void peer[command]().then(() => process.send?.(command)))
process.once('disconnect', () => process.exit(1))
console.log(peer.url)
