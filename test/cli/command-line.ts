import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { enginesFor, forgetEngines, type Engines } from '../engines.ts'
import { freeze, untilFrozen } from '../freeze.ts'
import { waitFor } from '../until.ts'
import { Resident } from './resident/resident.ts'

/** The built program; `npm test` builds it before it runs the tests. */
export const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** A module for `--import` that multiplies every timeout of 1 s or more by 100. */
const LONG_TIMEOUTS = `data:text/javascript,${encodeURIComponent(`
  const { setTimeout: start } = globalThis
  globalThis.setTimeout = (call, ms, ...given) => start(call, ms < 1_000 ? ms : ms * 100, ...given)`)}`

/** Commands that run until their process gets a signal. */
const LONG_RUNNING = ['serve', 'demo']
const FULL = process.env['ADAMANT_FULL'] === '1'
const resident = new Resident()

export type CommandResult = { readonly code: number | null; readonly out: string; readonly err: string }
export type Settings = Readonly<Record<string, string>>

/** Runs the program on a temporary folder, with the embedded stores unless created by `onEngines`. */
export class CommandLine {
  readonly folder = mkdtempSync(join(tmpdir(), 'adamant-cli-'))
  readonly dataDir = join(this.folder, 'data')
  #engines: Engines = {}
  readonly #started = new Set<RunningProgram>()

  /** Uses the engines that test/engines.ts selects. */
  static async onEngines(): Promise<CommandLine> {
    const commands = new CommandLine()
    commands.#engines = await enginesFor(commands.dataDir)
    return commands
  }

  /**
   * Runs one command and waits until it ends. Commands share the test file's resident process; a command gets a separate
   * process while the resident one is busy, and always in the long forms (ADAMANT_FULL=1).
   */
  async run(words: readonly string[], settings: Settings = {}, input = ''): Promise<CommandResult> {
    if (!FULL && !resident.isBusy && !LONG_RUNNING.includes(words[0] ?? '')) {
      return resident.run({ words, env: this.#environment(settings), input })
    }
    const started = this.start(words, settings)
    started.write(input)
    return started.ended
  }

  /** Runs one command with --json. @returns its last line on stdout, parsed */
  json(...words: string[]): Promise<Record<string, unknown>> {
    return this.jsonWithExitCode(0, words)
  }

  /** Like `json`, for a command that must end with this exit code. */
  async jsonWithExitCode(expected: number, words: readonly string[]): Promise<Record<string, unknown>> {
    const { code, out, err } = await this.run([...words, '--json'])
    if (code !== expected) throw new Error(`${words.join(' ')} ended with ${code}: ${err}`)
    return JSON.parse(out.trim().split('\n').at(-1) ?? '') as Record<string, unknown>
  }

  async runInTurn(commands: readonly (readonly string[])[], settings: Settings = {}): Promise<CommandResult[]> {
    const ended: CommandResult[] = []
    for (const words of commands) ended.push(await this.run(words, settings))
    return ended
  }

  /** @param program arguments for node before the command's own; the built program by default */
  start(words: readonly string[], settings: Settings = {}, program: readonly string[] = [PROGRAM]): RunningProgram {
    const env = this.#environment(settings)
    const started = new RunningProgram(
      spawn(process.execPath, [...program, ...words], { env, stdio: ['pipe', 'pipe', 'pipe'] }),
    )
    this.#started.add(started)
    return started
  }

  /** Starts the built program with its timeouts multiplied by 100, so that they do not fire on a slow machine. */
  startWithLongTimeouts(words: readonly string[]): RunningProgram {
    return this.start(words, {}, ['--import', LONG_TIMEOUTS, PROGRAM])
  }

  #environment(settings: Settings): Record<string, string> {
    const { PATH = '', HOME = '', NODE_COMPILE_CACHE } = process.env
    const compiled = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
    const defaults = { DATA_DIR: this.dataDir, PORT: '0', LOG_LEVEL: 'warn' }
    return { PATH, HOME, ...compiled, ...this.#engines, ...defaults, ...settings }
  }

  /** Kills the processes that still run and removes the folder. */
  async remove(): Promise<void> {
    for (const started of this.#started) started.kill('SIGKILL')
    await Promise.all([...this.#started].map(({ ended }) => ended))
    if (Object.keys(this.#engines).length > 0) await forgetEngines(this.dataDir)
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export class RunningProgram {
  readonly ended: Promise<CommandResult>
  #out = ''
  #err = ''

  constructor(private readonly child: ChildProcessByStdio<Writable, Readable, Readable>) {
    child.stdout.on('data', (chunk: Buffer) => (this.#out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (this.#err += chunk.toString()))
    child.stdin.on('error', () => {})
    this.ended = once(child, 'close').then(([code]) => ({
      code: code as number | null,
      out: this.#out,
      err: this.#err,
    }))
  }

  /** What the program has written to stderr so far. */
  get stderr(): string {
    return this.#err
  }

  write(input: string): void {
    this.child.stdin.end(input)
  }

  /** Resolves when the program, which prints SIGSTOP and then sends it to itself, has stopped. */
  async stopped(): Promise<void> {
    await this.line((line) => line.startsWith('SIGSTOP'))
    await untilFrozen(this.child.pid ?? 0)
  }

  /** Stops the program until it gets SIGCONT. */
  async freeze(): Promise<void> {
    await freeze(this.child.pid ?? 0)
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }

  /** Resolves with the first line on stdout that fits. @throws if the process ends without such a line */
  async line(fits: (line: string) => boolean = () => true): Promise<string> {
    for (let hasEnded = false; ;) {
      const found = this.#out.split('\n').slice(0, -1).find(fits)
      if (found !== undefined) return found
      const output = `stdout: ${this.#out}; stderr: ${this.#err}`
      if (hasEnded) throw new Error(`the process ended without the line; ${output}`)
      const more = once(this.child.stdout, 'data').then(() => false)
      hasEnded = await waitFor(`a line; ${output}`, Promise.race([more, this.ended.then(() => true)]))
    }
  }
}
