import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { spawn } from 'node:child_process'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BadMasterKey, deriveKey, openMasterKeys } from '../../src/credentials/master-keys.ts'
import { FROM_SOURCE } from '../from-source.ts'
import { withFolder } from '../temporary-folder.ts'

const test = suite('the master key')

const open = (dataDir: string, masterKey?: string, masterKeyOld?: string) =>
  openMasterKeys({ dataDir, masterKey, masterKeyOld })

test('is generated at the first start, readable by its owner only, and reused at the next start', () =>
  withFolder((folder) => {
    const dataDir = join(folder, 'new', 'data')
    const made = open(dataDir)
    assert.is(made.current.bytes.length, 32)
    assert.equal(open(dataDir), made)
    assert.is(statSync(join(dataDir, 'master.key')).mode & 0o777, 0o600)
    assert.equal(readdirSync(dataDir), ['master.key'])
  }))

test('is the same for several processes that start concurrently', () =>
  withFolder(async (dataDir) => {
    const code = `import { openMasterKeys } from ${JSON.stringify(new URL('../../src/credentials/master-keys.ts', import.meta.url).href)}
      console.log(openMasterKeys({ dataDir: process.argv[1], masterKey: undefined, masterKeyOld: undefined }).current.id)`
    const start = () =>
      new Promise<string>((done) => {
        const child = spawn(process.execPath, [...FROM_SOURCE, '--input-type=module', '-e', code, dataDir])
        let output = ''
        child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
        child.on('close', () => done(output.trim()))
      })
    const found = await Promise.all([start(), start(), start(), start()])
    assert.match(found[0] ?? '', /^[0-9a-f]{16}$/)
    assert.is(new Set(found).size, 1)
    assert.equal(readdirSync(dataDir), ['master.key'])
  }))

test('in the environment takes precedence over the file', () =>
  withFolder((dataDir) => {
    const [one, two] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')]
    const keys = open(dataDir, one, two)
    assert.equal([keys.current.bytes, keys.old?.bytes], [Buffer.alloc(32, 1), Buffer.alloc(32, 2)])
    assert.equal(readdirSync(dataDir), [])
  }))

test('that is invalid is reported with its file and never replaced', () =>
  withFolder((dataDir) => {
    const path = join(dataDir, 'master.key')
    for (const text of ['', 'short', Buffer.alloc(31).toString('base64')]) {
      writeFileSync(path, text)
      assert.throws(
        () => open(dataDir),
        (error: unknown) => error instanceof BadMasterKey && error.message.includes(path),
      )
    }
  }))

test('derives a separate key for each purpose', () =>
  withFolder((dataDir) => {
    const { current } = open(dataDir, Buffer.alloc(32, 1).toString('base64'))
    assert.equal(deriveKey(current, 'a'), deriveKey(current, 'a'))
    assert.not.equal(deriveKey(current, 'a'), deriveKey(current, 'b'))
  }))

test.run()
