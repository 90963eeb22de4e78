import { Command, InvalidArgumentError } from 'commander'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  ApiClient,
  curlLines,
  startServer,
  type CurlLines,
  type DemoCredentials,
  type DemoServer,
} from './demo/server.ts'
import { DATASET_SIZE, createStones, waitUntilScored } from './demo/stones.ts'
import { OperationFailure } from '../maintenance/operation.ts'
import { formatQuantity, note, printResult, type OutputOptions } from './output.ts'
import { listenForStop, untilStopped } from './process-exit.ts'

type DemoOptions = OutputOptions & { readonly count: number; readonly exit?: true }

/** `demo`: a temporary service with real diamonds. */
export function demoCommand(): Command {
  return new Command('demo')
    .description(
      'Start a temporary service, create real diamonds over HTTP, and list them through v3 and v4 of the API',
    )
    .option('--count <number>', `Number of diamonds, 1 to ${DATASET_SIZE}`, readCount, DATASET_SIZE)
    .option('--exit', 'Exit when done instead of serving until Ctrl-C')
    .option('--json', 'Print the result as one line of JSON')
    .addHelpText('after', '\nExample:\n  adamant demo --count 5000 --exit')
    .action(demo)
}

function readCount(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 1 && number <= DATASET_SIZE) return number
  throw new InvalidArgumentError(`It must be an integer from 1 to ${DATASET_SIZE}.`)
}

async function demo(options: DemoOptions): Promise<void> {
  const stopped = untilStopped(listenForStop())
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-demo-'))
  try {
    const server = await startServer(dataDir)
    try {
      await runUntilStopped(stopped, server, options)
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** @throws OperationFailure if the service exits or rejects a request */
async function runUntilStopped(stopped: Promise<string>, server: DemoServer, options: DemoOptions): Promise<void> {
  const unexpectedExit = server.exitCode.then((code) => {
    throw new OperationFailure(`The service exited with code ${code}; see its output above`)
  })
  const result = await Promise.race([runDemo(server, options), stopped, unexpectedExit])
  if (typeof result === 'string') return
  printResult(options, result, describeResult(result))
  if (options.exit === true) return
  note('The service stays up until Ctrl-C.')
  await Promise.race([stopped, unexpectedExit])
}

/** As `--json` prints it. */
type DemoResult = {
  readonly url: string
  /** The report page of a public stone. */
  readonly report: string
  readonly stones: number
  /** Absent with `--exit`, as the service then stops with the demo. */
  readonly login?: DemoCredentials
  readonly curl?: CurlLines
}

async function runDemo(server: DemoServer, { count, exit }: DemoOptions): Promise<DemoResult> {
  note(`The service listens at ${server.url}`)
  const login = await register(server)
  const api = await ApiClient.logIn(server.url, login)
  const report = await createStones(api, count)
  await waitUntilScored(server.url, count)
  for (const version of ['v4', 'v3']) await checkList(api, `/${version}/diamond`, count)
  const result = { url: server.url, report, stones: count }
  return exit === true ? result : { ...result, login, curl: curlLines(server.url, login, api.token) }
}

/** @throws OperationFailure if the list does not contain all stones */
async function checkList(api: ApiClient, path: string, stones: number): Promise<void> {
  const { total } = await api.get(path)
  if (total !== stones) throw new OperationFailure(`GET ${path}: X-Total-Count must be ${stones}, got ${total}`)
}

function describeResult(result: DemoResult): string {
  const { url, report, stones } = result
  return [
    '',
    `created   ${formatQuantity(stones, 'stone')} with scores, listed through v3 and v4`,
    `open      ${report}`,
    `service   ${url}, API reference ${url}/docs`,
    ...nextStepLines(result),
  ].join('\n')
}

/** How to explore the service while it runs. */
const nextStepLines = ({ url, login, curl }: DemoResult): string[] =>
  login === undefined || curl === undefined
    ? []
    : [
        `account   ${login.username}, password ${login.password}`,
        `browse    ${url}/inventory, log in with this account`,
        `client    ${login.client_id}, secret ${login.client_secret}`,
        '',
        'List two stones, and get an access token:',
        `  ${curl.list}`,
        `  ${curl.token}`,
      ]

/** Registers an account and an OAuth client through the command line while the service runs. */
async function register(server: DemoServer): Promise<DemoCredentials> {
  const username = 'demo@example.com'
  const password = randomBytes(12).toString('base64url')
  const [, client] = await Promise.all([
    server.command('user', 'add', username, '--password', password),
    server.command('client', 'add', 'demo'),
  ])
  const { client_id, client_secret } = client
  return { username, password, client_id: String(client_id), client_secret: String(client_secret) }
}
