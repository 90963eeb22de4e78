import { setTimeout as pause } from 'node:timers/promises'
import { LANES, type Aim, type Lane } from './lanes.ts'

/**
 * The attackers' process: receives an aim from its parent, attacks for that time, and reports the number of attacks.
 */
process.on('message', (aim: Aim) => {
  void attackAll(aim).then((done) => process.send?.({ done }))
})
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })

async function attackAll(aim: Aim): Promise<Record<string, number>> {
  const until = performance.now() + aim.seconds * 1000
  const counts: Record<string, number> = {}
  for (const lane of LANES) for (let one = 0; one < lane.many; one++) void repeat(lane, aim, until, counts)
  // Attacks that still hang end with the process.
  await pause(aim.seconds * 1000)
  return counts
}

async function repeat(lane: Lane, aim: Aim, until: number, counts: Record<string, number>): Promise<void> {
  while (performance.now() < until) {
    counts[lane.name] = (counts[lane.name] ?? 0) + 1
    await lane.once(aim)
    await pause(lane.pause * (0.5 + Math.random()))
  }
}
