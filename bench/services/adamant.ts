import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stopProcess, freePort, waitUntilReady, startService, type Cores, type MeasuredService } from './service.ts'

const THIS_BUILD = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const EMAIL = 'bench@example.com'
const PASSWORD = 'correct horse battery staple'

export type ClientCredentials = { readonly client_id: string; readonly client_secret: string }

/** The real service, with credentials. */
export type Adamant = MeasuredService & {
  readonly client: ClientCredentials
  /** `Basic ...` header value with an API token, for the secrets API. */
  readonly basic: string
  /** Password grant; each call opens a new session. */
  logIn(): Promise<TokenGrant>
  readonly pid: number
  /** Creates another account with a session and an API token. */
  newAccount(email: string): Promise<BenchAccount>
}

export type TokenGrant = { readonly access_token: string; readonly refresh_token: string }
export type BenchAccount = {
  readonly email: string
  readonly password: string
  readonly token: string
  readonly basic: string
}

/**
 * Starts the service on an empty data directory, with an account and a client created by its commands.
 * @param settings additional environment variables
 * @param main the `main.js` of a build
 */
export async function startAdamant(
  settings: NodeJS.ProcessEnv = {},
  main = THIS_BUILD,
  cores?: Cores,
): Promise<Adamant> {
  const folder = await mkdtemp(join(tmpdir(), 'adamant-bench-'))
  const port = await freePort()
  const environment = { DATA_DIR: folder, PORT: String(port), CORS_ORIGINS: '*', ...settings }
  const run = (...args: string[]) => runCommand(main, environment, ...args)
  run('user', 'add', EMAIL, '--password', PASSWORD)
  const client = run('client', 'add', 'bench') as ClientCredentials
  const basic = newApiToken(run, EMAIL)
  const child = startService([main, 'serve'], join(folder, 'log'), environment, cores)
  child.stdout?.resume()
  const address = `http://127.0.0.1:${port}`
  const stop = async () => {
    await stopProcess(child)
    await rm(folder, { recursive: true })
  }
  const logIn = () => passwordGrant(address, client, EMAIL)
  const newAccount = async (email: string) => {
    run('user', 'add', email, '--password', PASSWORD)
    const basicOf = newApiToken(run, email)
    const { access_token: token } = await passwordGrant(address, client, email)
    return { email, password: PASSWORD, token, basic: basicOf }
  }
  try {
    await waitUntilReady(child, `${address}/health/ready`)
    const { access_token: token } = await logIn()
    return { port, token, client, basic, logIn, newAccount, pid: child.pid ?? 0, stop }
  } catch (error) {
    console.error(readFileSync(join(folder, 'log'), 'utf8'))
    await stop()
    throw error
  }
}

function newApiToken(run: (...args: string[]) => unknown, email: string): string {
  const { token } = run('token', 'add', email) as { token: string }
  return `Basic ${Buffer.from(`${email}:${token}`).toString('base64')}`
}

async function passwordGrant(address: string, client: ClientCredentials, username: string): Promise<TokenGrant> {
  const parameters = new URLSearchParams({ grant_type: 'password', username, password: PASSWORD, ...client })
  const response = await fetch(`${address}/api/oauth/v2/token`, { method: 'POST', body: parameters })
  if (!response.ok) throw new Error(`the token endpoint returned status ${response.status}: ${await response.text()}`)
  return (await response.json()) as TokenGrant
}

/** Runs a command with --json; the last line of its output is the result. */
function runCommand(main: string, environment: NodeJS.ProcessEnv, ...args: string[]): unknown {
  const output = execFileSync(process.execPath, [main, ...args, '--json'], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(output.toString().trim().split('\n').at(-1) ?? '')
}
