import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { LOAD_CORE, pinned } from '../cores.ts'
import { percentile } from '../load/watch.ts'
import { startAdamant } from '../services/adamant.ts'
import type { Aim } from './lanes.ts'
import { beNormal, type Met } from './normal-client.ts'

/** How much slower the slowest hundredth of a normal client's requests may be than at rest. */
const TARGET = 10

/** Of the time of the attack, what is measured at rest before; seconds at least. */
const REST = 0.2
const REST_LEAST = 15

/**
 * Attacks the service by everything at once, beside a client that does what clients do, and prints what that client met
 * before and meanwhile.
 * @returns whether it met no error, and was not ten times slower
 */
export async function attack(minutes: number): Promise<boolean> {
  const adamant = await startAdamant({ RATE_LIMIT: '0' })
  try {
    const crowd = await adamant.newAccount('attacker@example.com')
    const seconds = minutes * 60
    // What the first requests load and compile is no part of either figure.
    await beNormal(adamant, performance.now() + 5_000)
    const rest = await beNormal(adamant, performance.now() + Math.max(REST_LEAST, seconds * REST) * 1000)
    const attackers = await startAttackers({
      port: adamant.port,
      seconds,
      // Only Linux has all of 127.0.0.0/8 without being told.
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

/** @returns once they attack; `done`: how often each did */
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
  console.log(
    '| a normal client | requests | errors | p50 ms | p99 ms | longest ms |\n| --- | --- | --- | --- | --- | --- |',
  )
  for (const [name, of] of [
    ['at rest', rest],
    ['attacked', met],
  ] as const) {
    console.log(`| ${name} | ${of.taken.length} and ${of.seldom} slow ones | ${of.errors.length} | ${figures(of)} |`)
  }
  for (const error of met.errors.slice(0, 20)) console.log(`  ${error}`)
  const ratio = percentile(met.taken, 0.99) / percentile(rest.taken, 0.99)
  const holds = rest.errors.length + met.errors.length === 0 && ratio < TARGET
  console.log(
    `\np99 ${ratio.toFixed(1)} times that at rest, target < ${TARGET}; ${met.errors.length} errors, target 0: ${holds ? 'holds' : 'DOES NOT HOLD'}`,
  )
  return holds
}
