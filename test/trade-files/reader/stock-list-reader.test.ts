import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { UnreadableFile, UnusableOption } from '../../../src/trade-files/errors.ts'
import { BULK_SIZE } from '../../../src/trade-files/plan.ts'
import { StockListReader } from '../../../src/trade-files/reader/stock-list-reader.ts'
import type { ReadingRequest } from '../../../src/trade-files/reading.ts'

const UNLIMITED = { timeoutMs: 2 ** 31 - 1, maxMemoryBytes: Infinity }

const test = suite<{ folder: string; reader: StockListReader }>('the reading process of stock lists')

test.before((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'stock-list-'))
  context.reader = new StockListReader(UNLIMITED)
})
test.after(({ folder, reader }) => {
  reader.close()
  rmSync(folder, { recursive: true })
})

function written(folder: string, content: string): string {
  const file = join(folder, 'stones.csv')
  writeFileSync(file, content)
  return file
}

const rows = (count: number) => Array.from({ length: count }, (_, index) => `S-${index},Round,1\n`).join('')

const open = (
  { folder, reader }: { folder: string; reader: StockListReader },
  content: string,
  request: ReadingRequest,
) => reader.open({ file: written(folder, content), folder, ...request })

test('returns what it understood, then the valid lines in order', async (context) => {
  const many = 1_234
  const list = await open(context, `sku,cutShape,carat\n${rows(many)}bad,Round,x\n`, { options: {} })
  const { rows: lines, usable, badLines, errors, newStones } = list.reading
  assert.equal([lines, usable, badLines, newStones], [many + 1, many, 1, many])
  assert.equal(errors[0]?.column, 'carat')
  const skus: unknown[] = []
  for await (const { change } of list.lines) skus.push(change.set.sku)
  assert.equal(
    skus,
    Array.from({ length: many }, (_, index) => `S-${index}`),
  )
  await list.close()
})

test('knows the stones of the account, and names those that the file lacks', async (context) => {
  const stock = {
    skus: [
      [7, 'S-0'],
      [8, 'gone'],
    ],
    customShapes: ['Rund'],
  } as const
  const list = await open(context, 'sku,cutShape,carat\nS-0,Rund,2\nS-1,Round,1\n', { options: {}, stock })
  assert.equal([list.reading.newStones, list.reading.missing, list.reading.errorCount], [1, [8], 0])
  await list.close()
})

test('returns questions instead of lines', async (context) => {
  const list = await open(context, 'sku,cutShape,Gramm\nA,Round,1\n', { options: {} })
  assert.equal(
    list.reading.questions.map(({ kind }) => kind),
    ['unknown column', 'field without column'],
  )
  assert.is((await list.lines.next()).done, true)
  await list.close()
})

test('refuses what is no stock list, and options that do not fit', async (context) => {
  const refusal = (content: string, options = {}) =>
    open(context, content, { options }).then(
      () => undefined,
      (error: unknown) => error,
    )
  const unreadable = await refusal('%PDF-1.7')
  assert.ok(unreadable instanceof UnreadableFile && /is a PDF/.test(unreadable.reason))
  const unusable = await refusal('sku,cutShape,carat\nA,Round,1\n', { map: { Box: 'sku' } })
  assert.ok(unusable instanceof UnusableOption && unusable.option === 'map' && unusable.key === 'Box')
})

test('ends when its list is closed before all lines were read', async (context) => {
  const list = await open(context, `sku,cutShape,carat\n${rows(20_000)}`, { options: {} })
  const first = await list.lines.next()
  assert.is(first.value?.line, 2)
  await list.close()
  let remaining = 0
  for await (const { line } of list.lines) remaining += line === undefined ? 0 : 1
  assert.ok(remaining < BULK_SIZE, `${remaining} more lines`)
})

test('is killed when it takes too long or too much memory, which is said to be the file', async ({ folder }) => {
  const file = written(folder, `sku,cutShape,carat\n${rows(1_000)}`)
  for (const [limits, reason] of [
    [{ ...UNLIMITED, timeoutMs: 1 }, /is too large to be read \(it took more than 1 ms\)/],
    [
      { ...UNLIMITED, maxMemoryBytes: 1_000_000 },
      /is too large to be read \(it took more than 1000000 bytes of memory\)/,
    ],
  ] as const) {
    const reader = new StockListReader(limits)
    const error: unknown = await reader.open({ file, folder, options: {} }).catch((refusal: unknown) => refusal)
    assert.ok(error instanceof UnreadableFile && reason.test(error.reason), String(error))
    reader.close()
  }
})

test('does not start after the reader was closed', async ({ folder }) => {
  const reader = new StockListReader(UNLIMITED)
  reader.close()
  const error: unknown = await reader
    .open({ file: written(folder, 'sku\n'), folder, options: {} })
    .catch((refusal: unknown) => refusal)
  assert.match(String(error), 'the reader is closed')
})

test.run()
