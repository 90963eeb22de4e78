import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { isIP } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { OperationFailure } from '../../maintenance/operation.ts'
import { SETTINGS } from '../../wiring/settings.ts'

/** The service in a separate process, with a separate data folder. */
export type DemoServer = {
  readonly url: string
  /** Resolves with the exit code when the process exits. */
  readonly exitCode: Promise<number | null>
  /** Runs another command of the command line. @returns its JSON result */
  command(...args: string[]): Promise<Record<string, unknown>>
  stop(): Promise<void>
}

/**
 * Starts `adamant serve` as a separate process, as in production: it does not share memory and CPU time with the demo, which
 * is a client like any other. It has its own process group, so that Ctrl-C does not reach it directly; the IPC channel stops it
 * if this process dies.
 */
export async function startServer(dataDir: string): Promise<DemoServer> {
  const env = demoEnvironment(dataDir, process.env)
  const child = spawn(process.execPath, programArguments('serve', '--json'), {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const exitCode = once(child, 'exit').then(([code]) => code as number | null)
  const readyMessage = await Promise.race([firstLine(child), exitCode.then(() => undefined)])
  if (readyMessage === undefined) throw new OperationFailure('The service did not start; see its output above')
  return {
    url: String(readyMessage['url']),
    exitCode,
    command: (...args) => runCommand(env, args),
    async stop() {
      child.kill('SIGTERM')
      await exitCode
    },
  }
}

/**
 * The environment of the service: that of this process without Adamant's settings, except for PORT, LOG_LEVEL and HOST. The demo
 * must not write thousands of stones to the stores of a real installation. HOST is used only if it is an IP address or
 * localhost, since tcsh sets it to the machine's name.
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

/** The arguments that run this program again, from the sources or built. */
const programArguments = (...args: string[]) => [...process.execArgv, process.argv[1] ?? '', ...args]

async function firstLine(child: ChildProcess): Promise<Record<string, unknown> | undefined> {
  if (child.stdout === null) return undefined
  for await (const line of createInterface(child.stdout)) return JSON.parse(line) as Record<string, unknown>
  return undefined
}

async function runCommand(env: NodeJS.ProcessEnv, args: readonly string[]): Promise<Record<string, unknown>> {
  const child = spawn(process.execPath, programArguments(...args, '--json'), {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [result, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new OperationFailure(`adamant ${args[0]} ${args[1]} exited with code ${String(code)}`)
  return JSON.parse(result) as Record<string, unknown>
}

type ApiResponse = {
  /** Parsed JSON, undefined for an empty body. */
  readonly body: unknown
  /** X-Total-Count; 0 without it. */
  readonly total: number
}

/** An HTTP client of the running service. */
export class ApiClient {
  private constructor(
    private readonly address: string,
    readonly token: string,
  ) {}

  /** Logs in with the password grant. @throws OperationFailure if the service rejects it */
  static async logIn(address: string, credentials: Readonly<Record<string, string>>): Promise<ApiClient> {
    const form = new URLSearchParams({ grant_type: 'password', ...credentials })
    const response = await fetch(`${address}/api/oauth/v2/token`, { method: 'POST', body: form })
    const body = (await response.json()) as Record<string, unknown>
    if (!response.ok)
      throw new OperationFailure(`The token server responded with ${response.status}: ${JSON.stringify(body)}`)
    return new ApiClient(address, String(body['access_token']))
  }

  /** @throws OperationFailure for a status above 299 */
  get(path: string): Promise<ApiResponse> {
    return this.#send('GET', path)
  }

  /** @throws OperationFailure for a status above 299 */
  post(path: string, body: object): Promise<ApiResponse> {
    return this.#send('POST', path, JSON.stringify(body))
  }

  async #send(method: string, path: string, content?: string): Promise<ApiResponse> {
    const response = await fetch(new URL(path, this.address), {
      method,
      headers: { Authorization: `Bearer ${this.token}`, ...(content && { 'Content-Type': 'application/json' }) },
      ...(content !== undefined && { body: content }),
    })
    const text = await response.text()
    if (!response.ok)
      throw new OperationFailure(
        `${method} ${path}: the service responded with ${response.status}: ${text.slice(0, 500)}`,
      )
    return {
      body: text === '' ? undefined : JSON.parse(text),
      total: Number(response.headers.get('X-Total-Count') ?? 0),
    }
  }
}

/** Credentials to explore the demo's service with; they are valid while it runs. */
export type DemoCredentials = {
  readonly username: string
  readonly password: string
  readonly client_id: string
  readonly client_secret: string
}

/** Commands to paste into a shell. */
export type CurlLines = {
  /** Lists stones with the demo's token. */
  readonly list: string
  /** Gets a new access token. */
  readonly token: string
}

export function curlLines(url: string, login: DemoCredentials, token: string): CurlLines {
  const form = Object.entries({ grant_type: 'password', ...login }).map(
    ([name, value]) => `--data-urlencode ${shellQuote(`${name}=${value}`)}`,
  )
  return {
    // -g: do not expand the brackets of a filter.
    list: `curl -s -g ${shellQuote(`${url}/v4/diamond?limit=2&f[isColored]=0`)} -H ${shellQuote(`Authorization: Bearer ${token}`)}`,
    token: `curl -s ${shellQuote(`${url}/api/oauth/v2/token`)} ${form.join(' ')}`,
  }
}

/** Quotes a text as one word of sh. */
const shellQuote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
