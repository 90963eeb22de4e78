import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { SETTINGS } from '../../src/wiring/settings.ts'
import { has, run } from '../docs/blocks.ts'

const ops = fileURLToPath(new URL('../../ops/', import.meta.url))
const UNITS = ['adamant.service', 'adamant-backup.service', 'adamant-backup.timer'] as const
const read = (unit: string) => readFileSync(join(ops, unit), 'utf8')

const test = suite("systemd's units")

test('give settings that the service has, and one folder of data to all', () => {
  for (const unit of UNITS.filter((name) => name.endsWith('.service'))) {
    const given = [...read(unit).matchAll(/^Environment=(.*)$/gm)].flatMap(([, words = '']) => words.split(' '))
    const names = given.map((word) => word.split('=')[0] ?? '')
    const strange = names.filter((name) => name !== 'NODE_ENV' && !SETTINGS.includes(name))
    assert.equal(strange, [], unit)
    assert.ok(given.includes('DATA_DIR=/var/lib/adamant'), unit)
    assert.match(read(unit), /^EnvironmentFile=-\/etc\/adamant\.env$/m)
    assert.match(read(unit), /^User=adamant$/m)
  }
})

if (has('systemd-analyze')) {
  test('are taken by systemd without a word', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adamant-units-'))
    try {
      for (const unit of UNITS) {
        const here = read(unit).replaceAll('/opt/adamant/node_modules/.bin/node', process.execPath)
        writeFileSync(join(folder, unit), here)
      }
      const files = UNITS.map((unit) => join(folder, unit))
      const { out, err, code } = await run('systemd-analyze', ['verify', ...files], { env: {} })
      assert.equal([code, `${out}${err}`], [0, ''])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
}

test.run()
