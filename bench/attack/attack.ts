import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { LOAD_CORE, pinToCore } from '../cores.ts'
import { percentile } from '../load/probe.ts'
import { startAdamant } from '../services/adamant.ts'
import type { AttackOptions } from './attacks.ts'
import { runNormalClient, type ClientResult } from './normal-client.ts'

/** The maximum ratio of the normal client's p99 under attack to its p99 when the service is idle. */
const MAX_P99_RATIO = 10

/** Duration of the idle measurement as a share of the attack's, with a minimum in seconds. */
const IDLE_SHARE = 0.2
const MIN_IDLE_SECONDS = 15

/**
 * Runs all attacks concurrently while a normal client works, and prints the client's latencies before and during the
 * attack.
 * @returns whether the client had no errors and its p99 stayed below the target
 */
export async function attack(minutes: number): Promise<boolean> {
  const adamant = await startAdamant({ RATE_LIMIT: '0' })
  try {
    const attacker = await adamant.newAccount('attacker@example.com')
    const seconds = minutes * 60
    // Warm-up: loading and compiling on first use must not count.
    await runNormalClient(adamant, performance.now() + 5_000)
    const idle = await runNormalClient(
      adamant,
      performance.now() + Math.max(MIN_IDLE_SECONDS, seconds * IDLE_SHARE) * 1000,
    )
    const attackers = await startAttackers({
      port: adamant.port,
      seconds,
      // Only Linux accepts all of 127.0.0.0/8 without configuration.
      localAddress: process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1',
      token: attacker.token,
      basic: attacker.basic,
      client: adamant.client,
      victim: 'bench@example.com',
    })
    const underAttack = await runNormalClient(adamant, performance.now() + seconds * 1000)
    console.log(`Attacks: ${JSON.stringify(await attackers.done)}\n`)
    return printVerdict(idle, underAttack)
  } finally {
    await adamant.stop()
  }
}

/** Resolves when the attackers are ready. `done` resolves with the number of attacks of each kind. */
async function startAttackers(options: AttackOptions): Promise<{ readonly done: Promise<unknown> }> {
  const program = fileURLToPath(new URL('./attackers.ts', import.meta.url))
  const [command, ...args] = pinToCore(LOAD_CORE, [process.execPath, '--import', 'tsx', program])
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  await once(child, 'message')
  child.send(options)
  const done = async () => {
    const [message] = (await once(child, 'message')) as [{ readonly done: unknown }]
    child.disconnect()
    return message.done
  }
  return { done: done() }
}

function printVerdict(idle: ClientResult, underAttack: ClientResult): boolean {
  const figures = (result: ClientResult) =>
    [0.5, 0.99, 1].map((share) => percentile(result.latenciesMs, share).toFixed(1)).join(' | ')
  console.log('| normal client | requests | errors | p50 ms | p99 ms | max ms |\n| --- | --- | --- | --- | --- | --- |')
  for (const [name, result] of [
    ['idle', idle],
    ['under attack', underAttack],
  ] as const) {
    console.log(
      `| ${name} | ${result.latenciesMs.length} and ${result.slowRounds} slow | ${result.errors.length} | ${figures(result)} |`,
    )
  }
  for (const error of underAttack.errors.slice(0, 20)) console.log(`  ${error}`)
  const ratio = percentile(underAttack.latenciesMs, 0.99) / percentile(idle.latenciesMs, 0.99)
  const passed = idle.errors.length + underAttack.errors.length === 0 && ratio < MAX_P99_RATIO
  console.log(
    `\np99 under attack: ${ratio.toFixed(1)} times idle (target < ${MAX_P99_RATIO}), ${underAttack.errors.length} errors (target 0): ${passed ? 'passed' : 'FAILED'}`,
  )
  return passed
}
