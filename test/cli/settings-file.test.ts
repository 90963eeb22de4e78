import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { loadSettingsFiles, parseSettings } from '../../src/cli/settings-file.ts'
import { isInstalled, run } from '../docs/blocks.ts'
import * as fc from '../fast-check.ts'
import { withFolder } from '../temporary-folder.ts'

const test = suite('a settings file')

/** Reads files with systemd's parser, but expands `$`, unlike EnvironmentFile=. */
const SYSTEMD = '/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator'

const EXAMPLES: readonly (readonly [line: string, value: string])[] = [
  ['A=mongodb://user:pa#ss@host/db?a=b&c=d', 'mongodb://user:pa#ss@host/db?a=b&c=d'],
  ['A=pa$$word', 'pa$$word'],
  ['A=Adamant <a@b>', 'Adamant <a@b>'],
  ['A = value ', 'value'],
  ['A="say \\"no\\" \\z"', 'say "no" \\z'],
  ["A='it is \\'", 'it is \\'],
  ['A="one" "two"three"', 'onetwothree"'],
  ['A=one\\\ntwo\\ ', 'onetwo '],
  ['A=C:\\\\data', 'C:\\data'],
  ['; no\n# A=no\nA=yes', 'yes'],
  ['A=first\nA=second', 'second'],
  ['A=', ''],
  ['A="not\nclosed', 'not\nclosed'],
]

for (const [line, value] of EXAMPLES) {
  test(`is read by systemd's rules: ${JSON.stringify(line)}`, () => {
    assert.is(parseSettings(line).variables.get('A'), value)
  })
}

test('has faults at lines that set no variable, and at a quote that is not closed', () => {
  const text = '\n# no\n  export A=secret\nno assignment\nB="two\nlines"\nC="not closed\nD=1\n'
  assert.equal(parseSettings(text).faults, [
    { line: 3, fault: 'does not begin with the name of a variable; ignored' },
    { line: 4, fault: 'is not NAME=VALUE; ignored' },
    { line: 7, fault: 'has a quote that is not closed; the value ends with the file' },
  ])
})

test('comes after the environment, and a later file before an earlier one', () =>
  withFolder((folder) => {
    const [first, second] = [join(folder, 'first.env'), join(folder, 'second.env')]
    writeFileSync(first, 'PORT=1\nHOST=first\nDATA_DIR=first')
    writeFileSync(second, 'PORT=2\nHOST=second')
    const environment: NodeJS.ProcessEnv = { PORT: '3' }
    loadSettingsFiles([first, second, `-${join(folder, 'missing')}`], environment)
    assert.equal(environment, { PORT: '3', HOST: 'second', DATA_DIR: 'first' })
    assert.throws(() => loadSettingsFiles([join(folder, 'missing')], {}), /missing can't be read: ENOENT/)
  }))

if (isInstalled(SYSTEMD, [])) {
  test("has the same variables as for systemd's own parser", () =>
    withFolder(async (folder) => {
      mkdirSync(join(folder, 'environment.d'))
      const text = fc
        .array(
          fc.constantFrom('A', 'B', '=', '=', ' ', '\t', '\n', '\n', '\\', '"', "'", '#', ';', '&', '<', 'x', '-'),
          {
            maxLength: 30,
          },
        )
        .map((characters) => characters.join(''))
        // Before version 254, a backslash continued a comment on the next line.
        .filter((generated) => !/[#;][^\n]*\\\n/.test(generated))
      await fc.assert(
        fc.asyncProperty(text, async (generated) => {
          writeFileSync(join(folder, 'environment.d', 'a.conf'), generated)
          const { out, err } = await run(SYSTEMD, [], { env: { XDG_CONFIG_HOME: folder } })
          // Unlike EnvironmentFile=, this program ignores empty values.
          fc.pre(!err.includes('invalid syntax'))
          const seen = new Map(
            Array.from(out.matchAll(/^([AB])=(?:"(.*)"|(.*))$/gm), ([, name = '', quoted, plain = '']) => [
              name,
              quoted?.replaceAll(/\\(.)/g, (_, next: string) => ({ n: '\n', t: '\t' })[next] ?? next) ?? plain,
            ]),
          )
          const { variables } = parseSettings(generated)
          for (const name of ['A', 'B']) assert.is(variables.get(name), seen.get(name), JSON.stringify(generated))
        }),
        { numRuns: 100 },
      )
    }))
}

test.run()
