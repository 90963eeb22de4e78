/**
 * Sends requests generated from /openapi.json to a new service and checks every response against the document: no server
 * error, and no undocumented status, header or body. Schemathesis (PyPI) generates the requests:
 *
 *     pip install schemathesis
 *     npm run test:fuzz -- [EXAMPLES]
 *
 * EXAMPLES is the number of requests per operation and phase (20). SEED selects other requests. SCHEMATHESIS is the path
 * of the program if it is not in PATH.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { basic, newSender } from '../api/harness/secrets.ts'
import { startService, type Service } from '../api/harness/service.ts'
import { SEED } from '../seeded.ts'

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
]

const SINGLE = 'examples,coverage,fuzzing'
/** Also sequences of requests that use the results of earlier ones. */
const ALL = `${SINGLE},stateful`

/** Paths that need the same credentials: an access token, an API token or none. */
type Part = { readonly name: string; readonly paths: string; readonly phases: string; readonly authorization?: string }

async function partsOf(service: Service): Promise<readonly Part[]> {
  const { email, token } = await newSender(service.installation)
  return [
    { name: 'inventory', paths: '^/v[34]/', phases: ALL, authorization: `Bearer ${service.ann.token}` },
    { name: 'secrets', paths: '^/api/v1/', phases: ALL, authorization: basic(email, token) },
    { name: 'public', paths: '^/(?!v[34]/|api/v1/)', phases: SINGLE },
  ]
}

/** @returns the output, and whether all checks passed */
function run(program: string, args: readonly string[]): Promise<{ output: string; passed: boolean }> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder })
  return new Promise((done, fail) => {
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('error', (error) =>
      fail(new Error(`${program} cannot be started (${error.message}): pip install schemathesis`)),
    )
    child.on('close', (code) => done({ output, passed: code === 0 }))
  })
}

const { SCHEMATHESIS = 'schemathesis' } = process.env
const [examples = '20'] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'adamant-fuzz-'))
const service = await startService({ settings: { RATE_LIMIT: '0', LOG_LEVEL: 'warn' } })
let failed = 0
try {
  // Each run uses one core, so they run in parallel and print their output at the end.
  const runs = (await partsOf(service)).map(async ({ name, paths, phases, authorization }) => {
    const { output, passed } = await run(SCHEMATHESIS, [
      'run',
      `${service.url}/openapi.json`,
      '--checks',
      CHECKS.join(','),
      '--max-examples',
      examples,
      '--phases',
      phases,
      '--include-path-regex',
      paths,
      // A request of the change feed may wait for 60 s.
      '--request-timeout',
      '70',
      '--generation-database',
      'none',
      '--seed',
      String(SEED),
      ...(authorization === undefined ? [] : ['--header', `Authorization: ${authorization}`]),
    ])
    console.log(`--- ${name}\n${output}`)
    if (!passed) failed++
  })
  await Promise.all(runs)
} finally {
  await service.stop()
  rmSync(folder, { recursive: true })
}
process.exitCode = failed === 0 ? 0 : 1
