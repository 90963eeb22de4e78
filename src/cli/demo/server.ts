import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { OperationFailure } from '../../maintenance/operation.ts'
import { SETTINGS } from '../../wiring/settings.ts'

/** The service in a process of its own, on a data folder of its own. */
export type DemoServer = {
  readonly url: string
  /** The most memory the process ever held, in bytes; undefined where the system does not tell. */
  peakMemoryBytes(): number | undefined
  /** Resolves with the exit code when it ended without being asked to. */
  readonly exited: Promise<number | null>
  /** Runs another command beside the server. @returns its result */
  command(...words: string[]): Promise<Record<string, unknown>>
  stop(): Promise<void>
}

/**
 * Starts `adamant serve` as its own process: its memory and its core are then the service's alone, as in production,
 * and the demo meets it as any client does. It leads its own process group, so that Ctrl-C reaches it only through us;
 * the IPC channel ends it should we die.
 */
export async function startServer(dataDir: string): Promise<DemoServer> {
  const env = demoEnvironment(dataDir, process.env)
  const child = spawn(process.execPath, programArguments('serve', '--json'), {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const ready = await Promise.race([firstLine(child), ended.then(() => undefined)])
  if (ready === undefined) throw new OperationFailure('The service did not start; what it said stands above')
  return {
    url: String(ready['url']),
    peakMemoryBytes: () => readPeakMemoryBytes(child.pid),
    exited: ended,
    command: (...words) => runCommand(env, words),
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/**
 * What the service gets of this process's environment: all that is not a setting, and of those what says how the demo is
 * seen. Thousands of stones never go into the stores of somebody's real installation, and HOST is taken only as an
 * address or localhost: tcsh sets it to the machine's name.
 */
export function demoEnvironment(dataDir: string, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { HOST = '', PORT, LOG_LEVEL } = environment
  const others = Object.entries(environment).filter(([name]) => !SETTINGS.includes(name))
  return {
    ...Object.fromEntries(others),
    ...((isIP(HOST) !== 0 || HOST === 'localhost') && { HOST }),
    DATA_DIR: dataDir,
    PORT: PORT || '0',
    LOG_LEVEL: LOG_LEVEL || 'warn',
  }
}

/** The arguments that run this very program, from the sources or built. */
const programArguments = (...words: string[]) => [...process.execArgv, process.argv[1] ?? '', ...words]

async function firstLine(child: ChildProcess): Promise<Record<string, unknown> | undefined> {
  if (child.stdout === null) return undefined
  for await (const line of createInterface(child.stdout)) return JSON.parse(line) as Record<string, unknown>
  return undefined
}

async function runCommand(env: NodeJS.ProcessEnv, words: readonly string[]): Promise<Record<string, unknown>> {
  const child = spawn(process.execPath, programArguments(...words, '--json'), {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [result, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new OperationFailure(`adamant ${words[0]} ${words[1]} ended with exit code ${String(code)}`)
  return JSON.parse(result) as Record<string, unknown>
}

/** Linux's high-water mark, proc(5): VmHWM in KiB. */
function readPeakMemoryBytes(pid: number | undefined): number | undefined {
  try {
    const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
  } catch {
    return undefined
  }
}

export type DemoApiResponse = {
  readonly status: number
  /** Parsed JSON, undefined for an empty body. */
  readonly body: unknown
  /** X-Total-Count of a list. */
  readonly total: number
  /** Targets of the Link header by relation. */
  readonly links: Readonly<Record<string, string>>
  readonly milliseconds: number
}

/** A client of the running service, as anybody would write one. */
export class ApiClient {
  private constructor(
    private readonly address: string,
    readonly token: string,
  ) {}

  /** Logs in by the password grant. @throws Failed when the service refuses */
  static async logIn(address: string, credentials: Readonly<Record<string, string>>): Promise<ApiClient> {
    const form = new URLSearchParams({ grant_type: 'password', ...credentials })
    const response = await fetch(`${address}/api/oauth/v2/token`, { method: 'POST', body: form })
    const body = (await response.json()) as Record<string, unknown>
    if (!response.ok)
      throw new OperationFailure(`The token server answered ${response.status}: ${JSON.stringify(body)}`)
    return new ApiClient(address, String(body['access_token']))
  }

  /** @throws Failed for a status over 299 */
  get(path: string): Promise<DemoApiResponse> {
    return this.#send('GET', path)
  }

  /** @throws Failed for a status over 299 */
  post(path: string, body: object): Promise<DemoApiResponse> {
    return this.#send('POST', path, JSON.stringify(body))
  }

  async #send(method: string, path: string, content?: string): Promise<DemoApiResponse> {
    const started = performance.now()
    const response = await fetch(new URL(path, this.address), {
      method,
      headers: { Authorization: `Bearer ${this.token}`, ...(content && { 'Content-Type': 'application/json' }) },
      ...(content !== undefined && { body: content }),
    })
    const text = await response.text()
    const milliseconds = performance.now() - started
    if (!response.ok)
      throw new OperationFailure(`${method} ${path} was answered ${response.status}: ${text.slice(0, 500)}`)
    const { headers } = response
    return {
      status: response.status,
      body: text === '' ? undefined : JSON.parse(text),
      total: Number(headers.get('X-Total-Count') ?? 0),
      links: parseLinkHeader(headers.get('Link') ?? ''),
      milliseconds,
    }
  }
}

/** RFC 8288: `<target>; rel="next", ...` */
function parseLinkHeader(header: string): Record<string, string> {
  return Object.fromEntries([...header.matchAll(/<([^>]*)>; rel="?(\w+)"?/g)].map(([, target, rel]) => [rel, target]))
}

/** What somebody needs to go on where the demo ends: it exists as long as the demo's service does. */
export type DemoCredentials = {
  readonly username: string
  readonly password: string
  readonly client_id: string
  readonly client_secret: string
}

/** Lines to be pasted into a shell. */
export type CurlLines = {
  /** Lists stones with the demo's token. */
  readonly list: string
  /** Fetches a token of one's own. */
  readonly token: string
}

export function curlLines(url: string, login: DemoCredentials, token: string): CurlLines {
  const form = Object.entries({ grant_type: 'password', ...login }).map(
    ([name, value]) => `--data-urlencode ${shellQuote(`${name}=${value}`)}`,
  )
  return {
    // -g: the brackets of a filter are no pattern of curl's.
    list: `curl -s -g ${shellQuote(`${url}/v4/diamond?limit=2&f[isColored]=0`)} -H ${shellQuote(`Authorization: Bearer ${token}`)}`,
    token: `curl -s ${shellQuote(`${url}/api/oauth/v2/token`)} ${form.join(' ')}`,
  }
}

/** As sh takes it for one word, whatever is in it. */
const shellQuote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
