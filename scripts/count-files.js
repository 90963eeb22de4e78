// Counts the source files that a request passes through in the built service: `node scripts/count-files.js` after `npm run build`. A file
// counts if at least one of its functions ran on the service's main thread.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = new URL('../dist/', import.meta.url)
const main = fileURLToPath(new URL('main.js', dist))
const folder = mkdtempSync(join(tmpdir(), 'adamant-count-'))
const environment = { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'silent' }
const adamant = (...args) =>
  JSON.parse(execFileSync(process.execPath, [main, ...args, '--json'], { env: environment, encoding: 'utf8' }).trim())

const STONE = { sku: 'A-1', carat: 1.2, cutShape: 'Round', color: 'G', clarity: 'VS1', cutQuality: 'Excellent' }

const successfulText = async (response) => {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return response.text()
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms))

async function count() {
  const { openInstallation } = await import(new URL('wiring/open-installation.js', dist))
  const { startService } = await import(new URL('wiring/service.js', dist))
  const { readSettings } = await import(new URL('wiring/settings.js', dist))
  const installation = await openInstallation(readSettings(environment), 'made')
  const service = await startService(installation)
  await service.ready()
  const { client_id, client_secret } = adamant('client', 'add', 'count')
  adamant('user', 'add', 'count@example.com', '--password', 'a long enough password')
  const grant = {
    grant_type: 'password',
    client_id,
    client_secret,
    username: 'count@example.com',
    password: 'a long enough password',
  }
  const url = service.local
  const { access_token } = await (
    await fetch(`${url}/api/oauth/v2/token`, { method: 'POST', body: new URLSearchParams(grant) })
  ).json()
  const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
  const create = () =>
    fetch(`${url}/v4/diamond`, { method: 'POST', headers, body: JSON.stringify(STONE) }).then(successfulText)
  const list = () => fetch(`${url}/v4/diamond`, { headers }).then(successfulText)

  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const takeExecutedFiles = async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const files = result.filter(
      ({ url: file, functions }) =>
        file.startsWith(dist.href) &&
        functions.some(({ functionName, ranges }) =>
          functionName !== '' || ranges[0].startOffset > 0 ? ranges[0].count > 0 : false,
        ),
    )
    return files.map(({ url: file }) => file.slice(dist.href.length).replace(/\.js$/, '.ts')).toSorted()
  }
  const filesExecutedBy = async (action, waitMs) => {
    await sleep(1_500)
    await takeExecutedFiles()
    await action()
    if (waitMs > 0) await sleep(waitMs)
    return takeExecutedFiles()
  }
  await create()
  await list()
  const idle = new Set(await filesExecutedBy(() => sleep(100), 0))
  const printFiles = (title, files) => {
    console.log(
      `${title}: ${files.length} files, ${files.filter((file) => idle.has(file)).length} of which also run when idle`,
    )
    for (const file of files) console.log(`  ${file}${idle.has(file) ? ' (also idle)' : ''}`)
  }
  printFiles('POST until its response', await filesExecutedBy(create, 0))
  printFiles('GET of a list', await filesExecutedBy(list, 0))
  session.disconnect()
  await service.stop()
}

try {
  await count()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
