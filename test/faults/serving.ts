import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from '../api/harness/request.ts'
import { startService } from '../api/harness/service.ts'
import { vendor, type Vendor } from '../api/harness/account.ts'
import { list, type Shown } from '../api/harness/stones.ts'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** `serve` in a process of its own. */
export type Serving = {
  readonly url: string
  /** Ann, asking this process. */
  readonly ann: Vendor
  /** Ends it as a power cut would, as far as a process can tell. */
  kill(): Promise<void>
  /** Asks it to stop. @returns its exit code */
  terminate(): Promise<number | null>
}

/** A data folder with an account, on which services start, one after another or beside each other. */
export type Installed = { readonly dataDir: string; serve(settings?: Record<string, string>): Promise<Serving> }

/** Milliseconds within which a service must be ready. */
const READY = 30_000

export async function withInstallation(run: (installed: Installed) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-faults-'))
  const started: ChildProcess[] = []
  try {
    // The account and its token are made here: the master key in the folder makes the token good for every process.
    const setUp = await startService({ dataDir })
    const { ann } = setUp
    await setUp.stop()
    await run({
      dataDir,
      async serve(settings = {}) {
        const child = spawn(process.execPath, [main, 'serve', '--json'], {
          env: { ...process.env, LOG_LEVEL: 'error', ...settings, DATA_DIR: dataDir, PORT: '0' },
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        started.push(child)
        const url = await urlOf(child)
        return serving(child, url, vendor(url, ann.account, ann.token))
      },
    })
  } finally {
    await Promise.all(started.map((child) => end(child, 'SIGKILL')))
    rmSync(dataDir, { recursive: true })
  }
}

const serving = (child: ChildProcess, url: string, ann: Vendor): Serving => ({
  url,
  ann,
  kill: async () => void (await end(child, 'SIGKILL')),
  terminate: () => end(child, 'SIGTERM'),
})

async function urlOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the service has no stdout')
  const abort = AbortSignal.timeout(READY)
  const lines = createInterface(child.stdout)
  const died = once(child, 'exit').then(([code]) => {
    throw new Error(`the service ended with ${String(code)} before it was ready`)
  })
  const [line] = (await Promise.race([once(lines, 'line', { signal: abort }), died])) as [string]
  return (JSON.parse(line) as { url: string }).url
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
  return child.exitCode
}

/** All diamonds that a vendor's list has in a version, page by page, and its total. */
export async function everyDiamond(ann: Vendor, version: string): Promise<{ total: number; diamonds: Shown[] }> {
  const diamonds: Shown[] = []
  for (;;) {
    const page = await ann.get(`/${version}/diamond?limit=1000&offset=${diamonds.length}`)
    if (page.status === 204) return { total: Number(page.headers['x-total-count']), diamonds }
    diamonds.push(...list(expect(200, page)))
  }
}
