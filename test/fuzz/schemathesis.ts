/**
 * Sends requests made from /openapi.json to a service of its own, and holds every answer to the description: no fault of the
 * server, no status, header or body that is not described. Schemathesis (PyPI) makes the requests:
 *
 *     pip install schemathesis
 *     npm run test:fuzz -- [EXAMPLES]
 *
 * EXAMPLES is how many requests each operation gets in each phase (20); SEED chooses others. SCHEMATHESIS names the program where it is not in PATH.
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
/** Also what was made by one request and is asked for by another. */
const ALL = `${SINGLE},stateful`

/** Who asks for what: an access token, an API token, or nobody. */
type Part = { readonly name: string; readonly paths: string; readonly phases: string; readonly authorization?: string }

async function partsOf(service: Service): Promise<readonly Part[]> {
  const { email, token } = await newSender(service.installation)
  return [
    { name: 'inventory', paths: '^/v[34]/', phases: ALL, authorization: `Bearer ${service.ann.token}` },
    { name: 'secrets', paths: '^/api/v1/', phases: ALL, authorization: basic(email, token) },
    { name: 'for everybody', paths: '^/(?!v[34]/|api/v1/)', phases: SINGLE },
  ]
}

/** @returns what it printed, and whether it found nothing */
function run(program: string, args: readonly string[]): Promise<{ output: string; passed: boolean }> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder })
  return new Promise((done, fail) => {
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('error', (error) =>
      fail(new Error(`${program} can not be started (${error.message}): pip install schemathesis`)),
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
  // Each computes on one core: they run side by side, and say at their end what they found.
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
