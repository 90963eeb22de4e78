import { relative } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { globSync } from '../glob.ts'
import { LONG_FIRST, processesFor } from './processes.ts'

const test = suite('processes of tests')
const files = globSync(new URL('..', import.meta.url)).map((file) => relative('.', file))

test('run every file once', () => {
  assert.equal(processesFor(files).flat().toSorted(), files.toSorted())
})

test('begin with the longest files, each of which is there', () => {
  assert.equal(
    processesFor(files)
      .slice(0, LONG_FIRST.length)
      .map(([file]) => file),
    LONG_FIRST,
  )
})

test('are not shared by what starts processes, nor by a file that says why it runs alone', () => {
  const shared = processesFor(files).filter(({ length }) => length > 1)
  const ownFolder = /^test\/(?:browser|eventstoredb|faults|model|stores\/(?:eventstoredb|mongodb))\//
  assert.ok(shared.length > 0)
  assert.equal(
    shared.flat().filter((file) => ownFolder.test(file) || file === 'test/credentials/passwords.test.ts'),
    [],
  )
})

test('are shared by few of those that keep a process for commands', () => {
  const ofCommands = processesFor(files).filter((together) => together.some((file) => file.startsWith('test/cli/')))
  assert.ok(ofCommands.every(({ length }) => length <= 4))
})

test.run()
