import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseSettings } from '../../src/cli/settings-file.ts'
import { SETTINGS } from '../../src/wiring/settings.ts'
import { isInstalled, run } from '../docs/blocks.ts'

const ops = fileURLToPath(new URL('../../ops/', import.meta.url))
const UNITS = ['adamant.service', 'adamant-backup.service', 'adamant-backup.timer'] as const
const read = (file: string) => readFileSync(join(ops, file), 'utf8')

const test = suite('the systemd units')

test('have the settings of the command adamant, in the same order', () => {
  const words = read('adamant').match(/(?<=--settings )\S+/g)
  for (const unit of UNITS.filter((name) => name.endsWith('.service'))) {
    assert.equal(read(unit).match(/(?<=^EnvironmentFile=).+$/gm), words, unit)
    assert.not.match(read(unit), /^Environment=/m)
    assert.match(read(unit), /^User=adamant$/m)
  }
  const names = [...parseSettings(read('defaults.env')).variables.keys()]
  assert.equal(
    names.filter((name) => !SETTINGS.includes(name)),
    ['NODE_ENV'],
  )
})

if (isInstalled('systemd-analyze')) {
  test('pass systemd-analyze verify without warnings', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adamant-units-'))
    try {
      for (const unit of UNITS) {
        const adapted = read(unit).replaceAll('/opt/adamant/node_modules/.bin/node', process.execPath)
        writeFileSync(join(folder, unit), adapted)
      }
      const files = UNITS.map((unit) => join(folder, unit))
      const { out, err, code } = await run('systemd-analyze', ['verify', ...files], { env: {} })
      assert.equal([code, `${out}${err}`], [0, ''])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
}

/** The maximum exposure level of systemd-analyze, from 0 (confined) to 10. */
const EXPOSURE = 2

if (isInstalled('systemd-analyze')) {
  test('confine the service', async () => {
    const words = ['security', '--offline=true', `--threshold=${EXPOSURE * 10}`, join(ops, 'adamant.service')]
    const { out, code } = await run('systemd-analyze', words, { env: {} })
    assert.is(code, 0, out)
  })
}

/** The system calls that the unit allows: filters without `~` allow calls, those with `~` deny them. */
async function allowedCalls(): Promise<Set<string>> {
  const { out } = await run('systemd-analyze', ['syscall-filter'], { env: {} })
  const sets = new Map<string, string[]>()
  let set: string[] = []
  for (const line of out.split('\n')) {
    if (line.startsWith('@')) sets.set(line.trim(), (set = []))
    else if (/^ +[^# ]/.test(line)) set.push(line.trim())
  }
  const callsOf = (name: string): string[] =>
    name.startsWith('@') ? (sets.get(name) ?? []).flatMap((inside) => callsOf(inside)) : [name]
  const allowed = new Set<string>()
  for (const [, negation, name = ''] of read('adamant.service').matchAll(/^SystemCallFilter=(~?)(\S+)$/gm)) {
    for (const call of callsOf(name)) {
      if (negation === '~') allowed.delete(call)
      else allowed.add(call)
    }
  }
  return allowed
}

if (isInstalled('systemd-analyze') && isInstalled('strace', ['-V'])) {
  test('allow all system calls of the service', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adamant-calls-'))
    try {
      const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
      const counts = join(folder, 'counts')
      const words = ['-f', '-c', '-o', counts, process.execPath, main, 'demo', '--count', '40', '--exit']
      const env = { TMPDIR: folder, PORT: '0' }
      const { err, code } = await run('strace', words, { env })
      assert.is(code, 0, err)
      const rows = readFileSync(counts, 'utf8').split('\n').slice(2)
      const made = rows.map((row) => row.trim().split(/\s+/).at(-1) ?? '').filter((name) => /^[a-z]\w+$/.test(name))
      assert.ok(made.length > 30, made.join())
      const allowed = await allowedCalls()
      // Run as root, SQLite changes the owner of files to the owner of their folder. The unit doesn't run as root.
      if (process.getuid?.() === 0) allowed.add('fchown')
      const refused = made.filter((call) => call !== 'total' && !allowed.has(call))
      assert.equal(refused, [])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
}

test.run()
