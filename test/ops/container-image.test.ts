import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { readSettings } from '../../src/wiring/settings.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const test = suite('the container image')

/** The build context: .dockerignore excludes everything (`*`) except the paths listed after it. */
const [everything, ...named] = read('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
const sent = named.map((line) => line.replace(/^!/, ''))
const isSent = (path: string) => sent.some((name) => path === name || path.startsWith(`${name}/`))

/** The paths that the Dockerfile copies into the image. */
const sources = [...read('ops/Dockerfile').matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, words = '']) =>
  words
    .split(' ')
    .slice(0, -1)
    .map((word) => word.replace(/^\.\//, '')),
)

test('copies only existing paths of the build context', () => {
  assert.ok(sources.length >= 8, sources.join())
  for (const source of sources) {
    assert.ok(existsSync(join(root, source)), `${source} does not exist`)
    assert.ok(isSent(source), `${source} is not in the build context: add it to .dockerignore`)
  }
})

test('has a build context without keys, logs or vaults of an installation', () => {
  assert.is(everything, '*')
  for (const line of named) assert.match(line, /^![\w./-]+$/)
  for (const folder of ['adamant-data', 'data', 'ops', '.']) {
    for (const file of ['master.key', 'events.db', 'events.db-wal', 'vault.db', 'outbox/1.eml']) {
      assert.not.ok(isSent(join(folder, file)), `${folder}/${file} is in the build context`)
      assert.not.ok(sources.includes(folder), `${folder} is copied as a whole`)
    }
  }
})

test('includes all files that a build reads', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  assert.is(scripts['build'], 'node scripts/build.js')
  const named = [...read('scripts/build.js').matchAll(/\$\{root\}([\w.-]+\.json)/g)].map(([, file = '']) => file)
  const files = ['scripts/build.js', 'scripts/brought-node.js', 'scripts/put-over.js', 'tsconfig.json', ...named]
  assert.ok(named.includes('tsconfig.build.json') && named.includes('package.json'), named.join())
  for (const file of files) {
    const isCopied = sources.some((source) => file === source || file.startsWith(`${source}/`))
    assert.ok(isCopied, `the build reads ${file}, which is not copied`)
  }
})

type Service = {
  readonly environment?: Readonly<Record<string, string>>
  readonly depends_on?: Readonly<Record<string, unknown>>
  readonly build?: { readonly dockerfile: string }
}
type Compose = {
  readonly services: Readonly<Record<string, Service>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
}
const compose = parse(read('ops/compose.yaml')) as Compose

test('has a Compose file with valid settings and all engines that they refer to', () => {
  const { adamant } = compose.services
  const addresses = ['BASE_URL', 'AUTH_URL', 'SECRETS_URL'].map((name) => [name, 'http://localhost:8080'])
  const MASTER_KEY = Buffer.alloc(32).toString('base64')
  const settings = readSettings({ ...adamant?.environment, ...Object.fromEntries(addresses), MASTER_KEY })
  for (const address of [settings.EVENT_STORE, settings.READ_MODEL, settings.MAILER]) {
    const { hostname } = new URL(address)
    assert.ok(hostname in compose.services, `${hostname} is not a service of the Compose file`)
  }
  for (const name of Object.keys(adamant?.depends_on ?? {})) assert.ok(name in compose.services, name)
  assert.ok(existsSync(join(root, adamant?.build?.dockerfile ?? '')))
})

test('contains no key and reads it from a file outside', () => {
  for (const { environment = {} } of Object.values(compose.services)) assert.not.ok('MASTER_KEY' in environment)
  assert.match(compose.secrets['master_key']?.file ?? '', /MASTER_KEY_FILE/)
  assert.ok(read('.gitignore').split('\n').includes('ops/master.key'), '.gitignore does not ignore the key')
  assert.not.match(read('ops/Dockerfile') + read('ops/compose.yaml'), /[A-Za-z0-9+/]{43}=/)
})

test('reads the key from that file, and names a file that it cannot read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-ops-'))
  try {
    const printing = join(folder, 'main.mjs')
    writeFileSync(join(folder, 'key'), 'from a file\n')
    writeFileSync(printing, 'console.log(process.env.MASTER_KEY, ...process.argv.slice(2))')
    const started = (file: string) => {
      const env = { MASTER_KEY_FILE: join(folder, file), ADAMANT_MAIN: printing }
      return spawnSync(process.execPath, [join(root, 'ops/entrypoint.cjs'), 'serve'], { env, encoding: 'utf8' })
    }
    assert.is(started('key').stdout, 'from a file serve\n')
    const without = started('none')
    assert.is(without.status, 2)
    assert.match(without.stderr, /^adamant: MASTER_KEY_FILE can't be read: .*none/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('starts the program without a shell', () => {
  const dockerfile = read('ops/Dockerfile')
  const copied = [...dockerfile.matchAll(/^COPY --from=build .*?(\/\S+) (\/\S+)$/gm)].map(([, , to]) => to)
  assert.equal(copied, ['/usr/bin', '/adamant', '/data'])
  assert.match(dockerfile, /^ENTRYPOINT \["\/usr\/bin\/adamant"\]$/m)
  assert.match(dockerfile, /^ {2}CMD \["\/usr\/bin\/node", "-e"/m)
  assert.match(dockerfile, /^USER 1000:1000$/m)
  assert.match(read('ops/entrypoint.cjs'), /^#!\/usr\/bin\/node\n/)
})

test.run()
