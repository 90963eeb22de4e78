import { Command, InvalidArgumentError } from 'commander'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiClient, curlLines, startServer, type DemoServer, type DemoCredentials } from './demo/server.ts'
import { DATASET_SIZE, createStones, waitUntilScored } from './demo/stones.ts'
import { describeFigures, figuresOf, checkListEndpoints, type Figures } from './demo/figures.ts'
import { OperationFailure } from '../maintenance/operation.ts'
import { note, printResult, type OutputOptions } from './output.ts'
import { listenForStop, type StopSignal } from './process-exit.ts'

type DemoOptions = OutputOptions & { readonly count: number; readonly exit?: true }

/** `demo`: a temporary service with real diamonds. */
export function demoCommand(): Command {
  return new Command('demo')
    .description(
      'Start a temporary service, create real diamonds over HTTP, and list them through v3 and v4 of the API',
    )
    .option('--count <number>', `Number of diamonds, 1 to ${DATASET_SIZE}`, readCount, DATASET_SIZE)
    .option('--exit', 'Exit when done instead of serving until Ctrl-C')
    .option('--json', 'Print the figures as one line of JSON')
    .addHelpText('after', '\nExample:\n  npx adamant demo --count 5000 --exit')
    .action(demo)
}

function readCount(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 1 && number <= DATASET_SIZE) return number
  throw new InvalidArgumentError(`It must be an integer from 1 to ${DATASET_SIZE}.`)
}

async function demo(options: DemoOptions): Promise<void> {
  const signal = listenForStop()
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-demo-'))
  try {
    const server = await startServer(dataDir)
    try {
      await runUntilStopped(signal, server, options)
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** @throws OperationFailure if the service exits or rejects a request */
async function runUntilStopped(signal: StopSignal, server: DemoServer, options: DemoOptions): Promise<void> {
  const unexpectedExit = server.exitCode.then((code) => {
    throw new OperationFailure(`The service exited with code ${code}; see its output above`)
  })
  const figures = await Promise.race([runDemo(server, options), signal.received, unexpectedExit])
  if (typeof figures === 'string') return
  printResult(options, figures, describeFigures(figures))
  if (options.exit === true) return
  note('The service stays up until Ctrl-C.')
  await Promise.race([signal.received, unexpectedExit])
}

async function runDemo(server: DemoServer, { count, exit }: DemoOptions): Promise<Figures> {
  const started = performance.now()
  note(`The service listens at ${server.url}`)
  const login = await register(server)
  const api = await ApiClient.logIn(server.url, login)
  const created = await createStones(api, count)
  const scoreSeconds = await waitUntilScored(server.url, created.stones)
  const visits = await checkListEndpoints(api, created)
  const totalSeconds = (performance.now() - started) / 1000
  const figures = figuresOf(server.url, created, {
    scoreSeconds,
    visits,
    serverMemory: server.peakMemoryBytes() ?? null,
    totalSeconds,
  })
  return exit === true ? figures : { ...figures, login, curl: curlLines(server.url, login, api.token) }
}

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
