import { relative } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { globSync } from '../glob.ts'
import { LONG_FIRST, processesFor } from './processes.ts'
import { groupsOf, tierOf, TIERS } from './tiers.ts'

const test = suite('test processes')
const files = globSync(new URL('..', import.meta.url)).map((file) => relative('.', file))

test('run every file once', () => {
  assert.equal(processesFor(files).flat().toSorted(), files.toSorted())
})

test('start with the longest files, each of which exists', () => {
  assert.equal(
    processesFor(files)
      .slice(0, LONG_FIRST.length)
      .map(([file]) => file),
    LONG_FIRST,
  )
})

test('are not shared by slow and engines files, nor by quick files marked as running alone', () => {
  const shared = processesFor(files).filter(({ length }) => length > 1)
  assert.ok(shared.length > 0)
  assert.equal(
    shared.flat().filter((file) => tierOf(file) !== 'quick' || file === 'test/credentials/password-hasher.test.ts'),
    [],
  )
})

test('are shared by at most four of the files that keep a process for commands', () => {
  const ofCommands = processesFor(files).filter((together) => together.some((file) => file.startsWith('test/cli/')))
  assert.ok(ofCommands.every(({ length }) => length <= 4))
})

test('belong to one tier, given by the file name', () => {
  const all = TIERS.flatMap((tier) => groupsOf(tier, files, { engines: undefined, isWhole: false })[0]?.files ?? [])
  assert.equal(all.toSorted(), files.toSorted())
  assert.is(tierOf('test/faults/kill.slow.test.ts'), 'slow')
  assert.is(tierOf('test/stores/mongodb/vault.engines.test.ts'), 'engines')
})

test("run the API's suites on two servers when the whole engines tier runs", () => {
  const groups = groupsOf('engines', files, { engines: undefined, isWhole: true })
  assert.equal(
    groups.map(({ engines }) => engines),
    [undefined, 'esdb+mongodb'],
  )
  assert.ok(groups[1]?.files.includes('test/api/create-diamond.test.ts'))
  assert.not(groups[0]?.files.some((file) => file.startsWith('test/api/')))
  assert.not(groups[1]?.files.some((file) => file.startsWith('test/api/embedded/')))
})

test.run()
