import { execFileSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stopProcess, freePort, startService, type MeasuredService } from './service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const outputFolder = join(root, '.tmp/bench')

/**
 * Compiles the baseline like the real service, because tsx would slow it down. It reads its version from package.json.
 */
export function buildBaseline(): void {
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, 'bench')], {
    stdio: 'inherit',
  })
  copyFileSync(join(root, 'package.json'), join(outputFolder, 'package.json'))
}

/** @param settings additional environment variables */
export async function startBaseline(settings: NodeJS.ProcessEnv = {}): Promise<MeasuredService> {
  const folder = await mkdtemp(join(tmpdir(), 'adamant-plain-'))
  const port = await freePort()
  const main = join(outputFolder, 'bench/baseline/main.js')
  const child = startService([main, folder, String(port)], join(folder, 'log'), settings)
  if (child.stdout === null) throw new Error('the baseline service has no output')
  const [line] = (await once(child.stdout, 'data', { signal: AbortSignal.timeout(30_000) })) as [Buffer]
  const { token } = JSON.parse(line.toString()) as { token: string }
  const stop = async () => {
    await stopProcess(child)
    await rm(folder, { recursive: true })
  }
  return { port, token, stop }
}
