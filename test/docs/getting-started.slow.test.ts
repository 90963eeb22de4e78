import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { codeBlocksOf, isInstalled, run } from './blocks.ts'
import { newInstallation, type NewInstallation } from './new-installation.ts'

const PAGE = 'docs/getting-started.md'
const test = suite<{ given: NewInstallation }>(PAGE)
test.before(async (context) => {
  context.given = await newInstallation()
})
test.after(({ given }) => given.remove())

if (isInstalled('curl') && isInstalled('jq')) {
  test('has shell commands that work in order, any number of times', async ({ given: { folder, env } }) => {
    // The first block sets variables that the test provides.
    const [, ...steps] = codeBlocksOf(PAGE, 'sh')
    const script = ['set -euo pipefail', ...steps].join('\necho ---\n')
    const { out, err, code } = await run('bash', ['-c', script], { env, cwd: folder })
    assert.is(code, 0, `${err}\n${out}`)
    const again = await run('bash', ['-c', script], { env, cwd: folder })
    assert.is(again.code, 0, `${again.err}\n${again.out}`)
    const [, , , faults, scores, links, many, found, changes, report, secret] = out.split('---\n')
    assert.match(faults ?? '', /"\/cutShape"[^]*"\/carat"[^]*"\/colour"/)
    assert.match(scores ?? '', /"integral"/)
    assert.match(links ?? '', /http/)
    assert.is(many, '["B-1",1900]\n["B-2",1900]\n')
    assert.match(found ?? '', /^\["B-[12]",\d+\]\n\["B-[12]",\d+\]\n$/)
    assert.match(changes ?? '', /^"0-\d+"\n\["A-1",\["created"/)
    assert.match(report ?? '', /"laboratory": "GIA"/)
    assert.is(secret, 'the door opens with 4711\n')
  })
}

for (const [language, program, args, prefix] of [
  ['python', 'python3', ['-'], 'PY'],
  ['js', process.execPath, ['--input-type=module', '-'], 'JS'],
  ['php', 'php', [], 'PHP'],
] as const) {
  if (!isInstalled(program)) continue
  test(`has a ${language} program that creates stones and waits for their scores, any number of times`, async ({
    given: { env },
  }) => {
    const [source = ''] = codeBlocksOf(PAGE, language)
    for (const time of ['first', 'second']) {
      const { out, err, code } = await run(program, args, { env, input: source })
      assert.is(code, 0, `${time} time: ${err}`)
      const lines = out.trim().split('\n').toSorted()
      assert.is(lines.length, 2, out)
      for (const [index, line] of lines.entries()) assert.match(line, new RegExp(`^${prefix}-${index + 1} [\\d.]+$`))
    }
  })
}

test.run()
