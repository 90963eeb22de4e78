import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { HeadFinder, type BackwardReader, type ScannedEvent } from '../../../src/stores/eventstoredb/reader.ts'

const at = (commit: number) => ({ commit: BigInt(commit), prepare: BigInt(commit) })

/** A log with one event per character: `o` is the application's, `x` is the server's own. It counts the events read. */
function logOf(text: string): { text: string; reads: number; readonly readBack: BackwardReader } {
  const log = {
    text,
    reads: 0,
    readBack: async (from: Parameters<BackwardReader>[0], count: number) => {
      const end = from === 'end' ? log.text.length : Number(from.commit)
      const seen: ScannedEvent[] = []
      for (let index = end - 1; index >= 0 && seen.length < count; index--) {
        seen.push({ position: at(index), isApplicationEvent: log.text[index] === 'o' })
      }
      log.reads += seen.length
      return seen
    },
  }
  return log
}

const test = suite('the head of a log in EventStoreDB')

for (const own of [0, 1, 40, 1_000, 70_000, 200_000]) {
  test(`is found behind ${own} events of the server's own`, async () => {
    assert.equal(await new HeadFinder(logOf(`xoo${'x'.repeat(own)}`).readBack).find(), at(2))
  })
}

test('is the start if there are no application events', async () => {
  for (const text of ['', 'x', 'x'.repeat(5_000)]) assert.is(await new HeadFinder(logOf(text).readBack).find(), 'start')
})

test('is found without reading events again that were scanned before', async () => {
  const log = logOf(`o${'x'.repeat(100_000)}`)
  const head = new HeadFinder(log.readBack)
  await head.find()
  log.reads = 0
  log.text += 'xxx'
  assert.equal(await head.find(), at(0))
  assert.ok(log.reads < 50, `${log.reads} events were read`)
})

test('is found without reading events before an observed position or checkpoint', async () => {
  const log = logOf(`ooo${'x'.repeat(100_000)}`)
  const head = new HeadFinder(log.readBack)
  head.observePosition(at(2), at(99_990))
  assert.equal(await head.find(), at(2))
  assert.ok(log.reads < 50, `${log.reads} events were read`)
})

test('moves back when the log was restored to an earlier state', async () => {
  const log = logOf(`oo${'x'.repeat(3_000)}o`)
  const head = new HeadFinder(log.readBack)
  await head.find()
  log.text = `oo${'x'.repeat(2_000)}`
  assert.equal(await head.find(), at(1))
})

test.run()
