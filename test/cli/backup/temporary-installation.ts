import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import { startService, type Service } from '../../api/harness/service.ts'
import { startPeer, type Peer } from '../../eventstoredb/peer/peer.ts'
import { CommandLine, type CommandResult, type Settings } from '../command-line.ts'

/** An installation in a temporary folder: served in this process, and used by the program in separate processes. */
export class TemporaryInstallation {
  readonly commands = new CommandLine()
  readonly folder = mkdtempSync(join(tmpdir(), 'adamant-backup-'))
  readonly dataDir = join(this.folder, 'data')
  readonly #services: Service[] = []

  async serve(dataDir = this.dataDir, settings: Settings = {}, clock: () => number = Date.now): Promise<Service> {
    const service = await startService({ dataDir, settings, clock })
    this.#services.push(service)
    return service
  }

  pathOf = (name: string) => join(this.folder, name)
  masterKey = () => readFileSync(join(this.dataDir, 'master.key'), 'utf8').trim()

  run(words: readonly string[], settings: Settings = {}): Promise<CommandResult> {
    return this.commands.run([...words, '--json'], { DATA_DIR: this.dataDir, ...settings })
  }

  /** Runs a command that should fail. A service that starts nevertheless is stopped. */
  async runToFailure(words: readonly string[], settings: Settings = {}): Promise<CommandResult> {
    if (words[0] !== 'serve') return this.run(words, settings)
    const started = this.commands.start([...words, '--json'], { DATA_DIR: this.dataDir, ...settings })
    await started.line().then(
      () => started.kill('SIGTERM'),
      () => undefined,
    )
    return started.ended
  }

  /** Runs a command that must succeed. @returns its last line on stdout, parsed */
  async json(words: readonly string[], settings: Settings = {}): Promise<Record<string, unknown>> {
    const { code, out, err } = await this.run(words, settings)
    if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${err}`)
    return JSON.parse(out.trim().split('\n').at(-1) ?? '') as Record<string, unknown>
  }

  async close(): Promise<void> {
    for (const service of this.#services) await service.stop()
    await this.commands.remove()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

type InstallationContext = { installation: TemporaryInstallation }

/** A suite whose tests each get an installation. */
export function installationSuite(name: string) {
  const test = suite<InstallationContext>(name)
  test.before.each((context) => {
    context.installation = new TemporaryInstallation()
  })
  test.after.each(({ installation }) => installation.close())
  return test
}

type ServerContext = InstallationContext & { peer: Peer; settings: Record<string, string> }

/** A suite whose tests each get an installation, an EventStoreDB peer, and the settings for a log on it. */
export function serverInstallationSuite(name: string) {
  const test = suite<ServerContext>(name)
  test.before.each(async (context) => {
    context.installation = new TemporaryInstallation()
    context.peer = await startPeer()
    context.settings = { EVENT_STORE: context.peer.url, MASTER_KEY: randomBytes(32).toString('base64') }
  })
  test.after.each(async ({ installation, peer }) => {
    await installation.close()
    await peer.stop()
  })
  return test
}
