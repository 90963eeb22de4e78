import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isInstalled, run } from '../docs/blocks.ts'
import { fixture } from '../fixtures/reports/reports.ts'

type Context = { folder: string; image: string }
const test = suite<Context>('the files of the container image')

const root = fileURLToPath(new URL('../../', import.meta.url))

test.before(async (context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'adamant-image-'))
  context.image = join(context.folder, 'adamant')
  const { code, err } = await run(process.execPath, [join(root, 'scripts/image-files.js'), context.image], { env: {} })
  assert.is(code, 0, err)
})
test.after(({ folder }) => rmSync(folder, { recursive: true, force: true }))

const MB = 1_000_000
/** The size of gcr.io/distroless/cc-debian12, unpacked: 24 MB in its publisher's table, rounded up. */
const BASE = 26 * MB

test('take less than 250 MB, with Node and the C library', ({ image }) => {
  const files = readdirSync(image, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const own = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
  assert.ok(own < 50 * MB, `${own} bytes are copied`)
  assert.ok(BASE + statSync(process.execPath).size + own < 250 * MB)
})

test('include nothing for drawing, other platforms or development', ({ image }) => {
  const paths = readdirSync(image, { recursive: true }).map(String)
  const strange = paths.filter((path) => /canvas|\.map$|\.d\.ts$|modules\/typescript|modules\/@types/.test(path))
  assert.equal(strange, [])
  assert.is(paths.filter((path) => path.endsWith('.node')).length, 1)
})

test('include every package that the service loads, and can read a report', async ({ folder, image }) => {
  const pdf = join(folder, 'report.pdf')
  writeFileSync(pdf, fixture('gia-pdfkit.pdf'))
  const script = `
    import { readFileSync } from 'node:fs'
    const { extractTextRuns } = await import('${image}/dist/reports/pdf-text.js')
    for (const name of ['mongodb', '@eventstore/db-client', 'koa', 'zod']) await import(import.meta.resolve(name))
    console.log(JSON.stringify(await extractTextRuns(new Uint8Array(readFileSync('${pdf}')))))`
  const loading = join(image, 'loading.mjs')
  writeFileSync(loading, script)
  const { out, err, code } = await run(process.execPath, [loading], { env: {} })
  rmSync(loading)
  assert.is(code, 0, err)
  assert.match(out, /GIA/)
})

/** The mounts are private to this test (`unshare`), which needs root. */
if (process.getuid?.() === 0 && isInstalled('unshare')) {
  test('are sufficient to run the service with only its data folder writable', async ({ folder, image }) => {
    const data = join(folder, 'data')
    mkdirSync(data)
    const node = process.execPath
    // The image may be on another file system than the root, such as a tmpfs.
    const script = `mount --make-rprivate / && mount -t tmpfs tmpfs "${data}" && mount -o remount,bind,ro / &&
      mount --bind "${image}" "${image}" && mount -o remount,bind,ro "${image}" &&
      ! touch "${image}/written" 2>/dev/null &&
      exec "${node}" "${image}/dist/main.js" demo --count 40 --exit`
    const env = { TMPDIR: data, PORT: '0' }
    const { out, err, code } = await run('unshare', ['--mount', 'sh', '-c', script], { env })
    assert.is(code, 0, err)
    assert.match(out, /^created +40 stones with scores/m)
  })
}

test.run()
