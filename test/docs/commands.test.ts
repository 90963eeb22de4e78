import { readdirSync, readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { UnexpectedExitReporter } from '../../src/cli/process-exit.ts'
import { programFor } from '../../src/cli/program.ts'
import { commandLinesIn, commandLineError } from './command-lines.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const pages = readdirSync(new URL('docs/', root))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)
const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pages]

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
const nothing = () => Promise.reject(new Error('this test opens no installation'))
const program = await programFor({
  open: nothing,
  exitReporter: new UnexpectedExitReporter({ on: () => process, exitCode: undefined }),
})

const test = suite('the commands in documents')

for (const document of documents) {
  test(`exist with their options: ${document}`, () => {
    const faults = commandLinesIn(read(document)).flatMap(({ line, words }) => {
      const fault = commandLineError(program, words)
      return fault === undefined ? [] : [`${line}: ${fault}`]
    })
    assert.equal(faults, [])
  })

  test(`exist in package.json if they start with npm run: ${document}`, () => {
    const named = [...read(document).matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name = '']) => name)
    assert.equal(
      named.filter((name) => !(name in scripts)),
      [],
    )
  })
}

test('are found in code blocks and inline code', () => {
  const found = documents.flatMap((document) => commandLinesIn(read(document)))
  assert.ok(found.length > 80, `${found.length}`)
  const [one] = commandLinesIn('`adamant audit diamond|secret ID --at TIME`')
  assert.equal(one?.words, ['audit', 'diamond|secret', 'ID', '--at', 'TIME'])
  assert.is(commandLineError(program, ['audit', 'stone', '7']), 'audit has no command stone')
  assert.is(commandLineError(program, ['verify', '--some', '7']), 'verify has no option --some')
})

test.run()
