import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { LOAD_CORE, pinned } from '../cores.ts'
import { percentile } from '../load/watch.ts'
import { startAdamant } from '../services/adamant.ts'
import type { Aim } from './lanes.ts'
import { beNormal, type Met } from './normal-client.ts'

/** The maximum ratio of the normal client's p99 under attack to its p99 when the service is idle. */
const TARGET = 10

/** Duration of the idle measurement as a share of the attack's, with a minimum in seconds. */
const REST = 0.2
const REST_LEAST = 15

/**
 * Runs all attacks concurrently while a normal client works, and prints the client's latencies before and during the
 * attack.
 * @returns whether the client had no errors and its p99 stayed below the target
 */
export async function attack(minutes: number): Promise<boolean> {
  const adamant = await startAdamant({ RATE_LIMIT: '0' })
  try {
    const crowd = await adamant.newAccount('attacker@example.com')
    const seconds = minutes * 60
    // Warm-up: loading and compiling on first use must not count.
    await beNormal(adamant, performance.now() + 5_000)
    const rest = await beNormal(adamant, performance.now() + Math.max(REST_LEAST, seconds * REST) * 1000)
    const attackers = await startAttackers({
      port: adamant.port,
      seconds,
      // Only Linux accepts all of 127.0.0.0/8 without configuration.
      localAddress: process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1',
      token: crowd.token,
      basic: crowd.basic,
      client: adamant.client,
      victim: 'bench@example.com',
    })
    const met = await beNormal(adamant, performance.now() + seconds * 1000)
    console.log(`Attacks: ${JSON.stringify(await attackers.done)}\n`)
    return judged(rest, met)
  } finally {
    await adamant.stop()
  }
}

/** Resolves when the attackers are ready. `done` resolves with the number of attacks of each kind. */
async function startAttackers(aim: Aim): Promise<{ readonly done: Promise<unknown> }> {
  const program = fileURLToPath(new URL('./attackers.ts', import.meta.url))
  const [command, ...args] = pinned(LOAD_CORE, [process.execPath, '--import', 'tsx', program])
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  await once(child, 'message')
  child.send(aim)
  const done = async () => {
    const [message] = (await once(child, 'message')) as [{ readonly done: unknown }]
    child.disconnect()
    return message.done
  }
  return { done: done() }
}

function judged(rest: Met, met: Met): boolean {
  const figures = (of: Met) => [0.5, 0.99, 1].map((share) => percentile(of.taken, share).toFixed(1)).join(' | ')
  console.log('| normal client | requests | errors | p50 ms | p99 ms | max ms |\n| --- | --- | --- | --- | --- | --- |')
  for (const [name, of] of [
    ['idle', rest],
    ['under attack', met],
  ] as const) {
    console.log(`| ${name} | ${of.taken.length} and ${of.seldom} slow | ${of.errors.length} | ${figures(of)} |`)
  }
  for (const error of met.errors.slice(0, 20)) console.log(`  ${error}`)
  const ratio = percentile(met.taken, 0.99) / percentile(rest.taken, 0.99)
  const holds = rest.errors.length + met.errors.length === 0 && ratio < TARGET
  console.log(
    `\np99 under attack: ${ratio.toFixed(1)} times idle (target < ${TARGET}), ${met.errors.length} errors (target 0): ${holds ? 'passed' : 'FAILED'}`,
  )
  return holds
}
