import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('compiled sources')
const file = fileURLToPath(import.meta.url)

type Shape = { readonly name: string }

test('report errors with the line numbers of the sources', () => {
  const shape: Shape = { name: 'here' }
  const { stack = '' } = new Error(shape.name) // the line that it names
  const lines = readFileSync(file, 'utf8').split('\n')
  const line = lines.findIndex((text) => text.includes('// the line that it names')) + 1
  const [message, top = ''] = stack.split('\n')
  assert.is(message, 'Error: here')
  assert.ok(top.includes(`${file}:${line}:`), stack)
})

test('leave stack traces of Node and of packages unchanged', () => {
  assert.throws(
    () => readFileSync(`${file}.none`),
    ({ stack }: Error) => /^Error: ENOENT: .+\n {4}at \w.+\(node:fs:\d+:\d+\)\n/.test(stack ?? ''),
  )
})

test.run()
