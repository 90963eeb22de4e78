import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newSender } from '../api/harness/secrets.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from '../api/harness/service.ts'
import { run, type ProgramResult } from '../docs/blocks.ts'
import { FOLDER, installPrograms, installPythonPrograms } from './tools.ts'

type Given = { service: Service; folder: string; env: Readonly<Record<string, string>> }
const test = suite<Given>('/openapi.json in other tools')

test.before(async (context) => {
  context.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
  const { service } = context
  const { email, token } = await newSender(service.installation)
  context.env = { ADDRESS: service.url, TOKEN: service.ann.token, EMAIL: email, API_TOKEN: token }
  // Below this folder, so that Node finds the packages installed there.
  context.folder = mkdtempSync(join(FOLDER, '.made-'))
  cpSync(join(FOLDER, 'clients'), context.folder, { recursive: true })
  writeFileSync(join(context.folder, 'openapi.json'), (await service.send({ path: '/openapi.json' })).text)
})
test.after(async ({ service, folder }) => {
  rmSync(folder, { recursive: true, force: true })
  await service.stop()
})

const program = await installPrograms()
const python = await installPythonPrograms()

/** @throws AssertionError with the output if the program failed */
function outputOf({ out, err, code }: ProgramResult): string {
  assert.is(code, 0, `${err}\n${out}`)
  return out
}

/** The output of a client that creates, lists and changes a stone, and shares and reveals a secret. */
const expectedOutput = (sku: string) => ({
  listed: [sku],
  price: 5400,
  color: 'F',
  symmetry: 'Very Good',
  state: 'new',
  value: 'the door opens with 4711',
})

if (program !== undefined) {
  test("has no warnings from Redocly's recommended rules", async ({ folder }) => {
    const result = await program(
      'redocly',
      ['lint', '--extends', 'recommended', '--format', 'json', 'openapi.json'],
      folder,
    )
    const { problems } = JSON.parse(outputOf(result)) as { problems: { ruleId: string; message: string }[] }
    assert.equal(
      problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
      [],
    )
  })

  test("has no warnings from Spectral's OpenAPI rules", async ({ folder }) => {
    writeFileSync(join(folder, '.spectral.yaml'), 'extends: ["spectral:oas"]\n')
    outputOf(await program('spectral', ['lint', '--fail-severity', 'hint', 'openapi.json'], folder))
  })

  test('generates a TypeScript client that compiles and works', async ({ folder, env }) => {
    outputOf(await program('openapi-typescript', ['openapi.json', '--output', 'api.d.ts'], folder))
    const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--skipLibCheck', '--types', 'node']
    const roots = ['--typeRoots', join(FOLDER, '../../node_modules/@types')]
    outputOf(await program('tsc', [...options, ...roots, 'client.ts'], folder))
    const result = await run(process.execPath, ['client.js'], { env, cwd: folder })
    assert.equal(JSON.parse(outputOf(result)), expectedOutput('TS-1'))
  })
}

if (python !== undefined) {
  test('generates a Python client that works', async ({ folder, env }) => {
    // The only media type that the generator doesn't know.
    writeFileSync(join(folder, 'config.yaml'), 'content_type_overrides:\n  application/pdf: application/octet-stream\n')
    const made = ['generate', '--path', 'openapi.json', '--config', 'config.yaml', '--meta', 'none']
    const generated = await run(join(python, 'openapi-python-client'), [...made, '--output-path', 'adamant_client'], {
      env: { PATH: `${python}:${process.env['PATH'] ?? ''}` },
      cwd: folder,
    })
    assert.not.match(outputOf(generated), /warning/i)
    const result = await run(join(python, 'python'), ['client.py'], { env, cwd: folder })
    assert.equal(JSON.parse(outputOf(result)), expectedOutput('PY-1'))
  })
}

test.run()
