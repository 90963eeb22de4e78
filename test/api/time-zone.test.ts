import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FROM_SOURCE } from '../from-source.ts'

const test = suite('dates')

for (const TZ of ['Pacific/Auckland', 'America/St_Johns']) {
  test(`are the same in the time zone ${TZ}`, () => {
    const file = fileURLToPath(new URL('date-filters.test.ts', import.meta.url))
    const env = { ...process.env, TZ }
    const { status, stdout } = spawnSync(process.execPath, [...FROM_SOURCE, file], { env, encoding: 'utf8' })
    assert.is(status, 0, stdout)
  })
}

test.run()
