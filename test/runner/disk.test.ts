import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FROM_SOURCE } from '../from-source.ts'
import { folderInMemory, isMountedNoexec } from './disk.ts'

const test = suite('the folder for files that tests write')

test('is on the disk in the long forms and if TMPDIR is set', () => {
  assert.is(folderInMemory(true, undefined), undefined)
  assert.is(folderInMemory(false, '/somewhere'), undefined)
})

test('is otherwise in memory if there is room, and is deleted when the run ends', () => {
  const source = `
    import { folderInMemory, isMountedNoexec } from '${new URL('disk.ts', import.meta.url).href}'
    console.log(folderInMemory(false, '') ?? 'none')`
  const words = [...FROM_SOURCE, '--input-type=module', '-e', source]
  const { stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  assert.match(stdout, /^(?:\/dev\/shm\/adamant-tests-\w+|none)\n$/)
  assert.not(existsSync(stdout.trim()))
})

test('is on the disk if programs cannot be started from memory', () => {
  const others = 'proc /proc proc rw,noexec 0 0\n'
  assert.ok(isMountedNoexec(`${others}tmpfs /dev/shm tmpfs rw,nosuid,nodev,noexec,inode64 0 0\n`))
  assert.not(isMountedNoexec(`${others}tmpfs /dev/shm tmpfs rw,nosuid,nodev,inode64 0 0\n`))
})

test.run()
