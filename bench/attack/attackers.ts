import { setTimeout as pause } from 'node:timers/promises'
import { ATTACKS, type AttackOptions, type Attack } from './attacks.ts'

/**
 * The attackers' process: receives its options from its parent, attacks for that time, and reports the number of attacks.
 */
process.on('message', (options: AttackOptions) => {
  void attackAll(options).then((done) => process.send?.({ done }))
})
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })

async function attackAll(options: AttackOptions): Promise<Record<string, number>> {
  const deadline = performance.now() + options.seconds * 1000
  const counts: Record<string, number> = {}
  for (const attack of ATTACKS)
    for (let attacker = 0; attacker < attack.concurrency; attacker++)
      void repeatAttack(attack, options, deadline, counts)
  // Attacks that still hang end with the process.
  await pause(options.seconds * 1000)
  return counts
}

async function repeatAttack(
  attack: Attack,
  options: AttackOptions,
  deadline: number,
  counts: Record<string, number>,
): Promise<void> {
  while (performance.now() < deadline) {
    counts[attack.name] = (counts[attack.name] ?? 0) + 1
    await attack.run(options)
    await pause(attack.pauseMs * (0.5 + Math.random()))
  }
}
