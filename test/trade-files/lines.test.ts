import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readLines, type ImportEntry } from '../../src/trade-files/lines.ts'

const test = suite('import lines of stones by sku')

async function* entries(...inputs: Record<string, unknown>[]): AsyncGenerator<ImportEntry> {
  for (const [index, input] of inputs.entries()) yield { line: index + 2, input }
}

async function read(shapes: ReadonlySet<string>, ...inputs: Record<string, unknown>[]) {
  const lines = []
  for await (const line of readLines(entries(...inputs), 'stones by sku', shapes)) lines.push(line)
  return lines
}

test('accept a custom shape similar to a standard one only if a stone already has it', async () => {
  const customShapes = new Set(['Rund'])
  const [same, other, known] = await read(
    customShapes,
    { sku: 'A', cutShape: ' Rund ' },
    { sku: 'A', cutShape: 'Rouund' },
    { sku: 'A', cutShape: 'Round' },
  )
  assert.equal(same, { line: 2, change: { set: { sku: 'A', cutShape: 'Rund' }, removed: [] } })
  assert.match(other && 'problems' in other ? (other.problems[0]?.message ?? '') : '', 'did you mean Round?')
  assert.equal(known, { line: 4, change: { set: { sku: 'A', cutShape: 2 }, removed: [] } })
})

test('require a sku, and report all other problems as well', async () => {
  const [none] = await read(new Set(), { sku: null, carat: -1, clarity: 'XX' })
  const problems = none && 'problems' in none ? none.problems : []
  assert.is(problems.length, 3)
  assert.equal(problems.at(-1), { message: 'sku is required' })
})

test.run()
