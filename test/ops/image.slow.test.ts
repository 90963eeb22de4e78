import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { has, run } from '../docs/blocks.ts'
import { fixture } from '../fixtures/reports/reports.ts'

type Context = { folder: string; image: string }
const test = suite<Context>('the files of the image')

const root = fileURLToPath(new URL('../../', import.meta.url))

test.before(async (context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'adamant-image-'))
  context.image = join(context.folder, 'adamant')
  const { code, err } = await run(process.execPath, [join(root, 'scripts/image-files.js'), context.image], { env: {} })
  assert.is(code, 0, err)
})
test.after(({ folder }) => rmSync(folder, { recursive: true, force: true }))

const MB = 1_000_000
/** Of gcr.io/distroless/cc-debian12, unpacked, as its publisher's table has it (24 MB), rounded up. */
const BASE = 26 * MB

test('are, with Node and the C library, less than 250 MB', ({ image }) => {
  const files = readdirSync(image, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const own = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
  assert.ok(own < 50 * MB, `${own} bytes are copied`)
  assert.ok(BASE + statSync(process.execPath).size + own < 250 * MB)
})

test('hold nothing for drawing, for other machines or for development', ({ image }) => {
  const paths = readdirSync(image, { recursive: true }).map(String)
  const strange = paths.filter((path) => /canvas|\.map$|\.d\.ts$|modules\/typescript|modules\/@types/.test(path))
  assert.equal(strange, [])
  assert.is(paths.filter((path) => path.endsWith('.node')).length, 1)
})

test('have every package that the service loads, and read a report', async ({ folder, image }) => {
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

/** Mounts are of this test alone (`unshare`), which takes root. */
if (process.getuid?.() === 0 && has('unshare')) {
  test('are all that the service needs, where nothing but its data can be written', async ({ folder, image }) => {
    const data = join(folder, 'data')
    mkdirSync(data)
    const node = process.execPath
    // The image may lie on another disk than the root, in memory.
    const script = `mount --make-rprivate / && mount -t tmpfs tmpfs "${data}" && mount -o remount,bind,ro / &&
      mount --bind "${image}" "${image}" && mount -o remount,bind,ro "${image}" &&
      ! touch "${image}/written" 2>/dev/null &&
      exec "${node}" "${image}/dist/main.js" demo --count 40 --exit`
    const env = { TMPDIR: data, PORT: '0' }
    const { out, err, code } = await run('unshare', ['--mount', 'sh', '-c', script], { env })
    assert.is(code, 0, err)
    assert.match(out, /MB at the peak/)
  })
}

test.run()
