import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parsePositions, formatPositions } from '../../../src/projections/engine/position-text.ts'
import { foldBatch, type BatchFoldResult, type FoldSource } from '../../../src/projections/engine/fold-batch.ts'
import { isSameSequence, eventsUpTo, readSequences } from '../../../src/projections/engine/account-sequence.ts'
import { CHANGE_NUMBERS, isDeleted } from '../../../src/projections/diamonds/diamond-record.ts'
import { diamonds } from '../../../src/projections/diamonds/diamonds.ts'
import type { PositionOrStart, StoredEvent } from '../../../src/stores/ports/event-store.ts'
import type { Document, FieldValue, StoredDocument, DocumentWrite } from '../../../src/stores/ports/read-store.ts'
import { randomFor } from '../../seeded.ts'

const test = suite('the change numbers of an account')

const at = (index: number) => ({ commit: BigInt(index * 7 + 3), prepare: BigInt(index * 7 + 2) })

/** Two accounts create, patch and delete diamonds. Some scores arrive late, and some events are unreadable. */
function makeHistory(random: () => number, count: number): StoredEvent[] {
  const stones: { id: number; revision: number; scores: number; gone: boolean }[] = []
  return Array.from({ length: count }, (_, index): StoredEvent => {
    const one = stones[Math.floor(random() * stones.length)]
    const chance = random()
    const event = (stream: string, revision: number, type: string, data: StoredEvent['data']) => ({
      id: `e-${index}`,
      stream,
      type,
      data,
      revision: BigInt(revision),
      position: at(index),
      metadata: { schema: '1', at: new Date(1_800_000_000_000 + index).toISOString() },
    })
    if (one === undefined || chance < 0.3) {
      const id = stones.length + 1
      stones.push({ id, revision: 0, scores: -1, gone: false })
      const set = { sku: `S-${id}`, cutShape: chance < 0.02 ? 99_999 : 1, carat: 1 }
      return event(`diamond-${id}`, 0, 'DiamondCreated', { id, owner: 1 + (id % 2), date: 1_800_000_000, set })
    }
    if (one.gone || chance < 0.5) {
      one.scores++
      const scores = { integral: null, spread: null, fire: null, brilliance: null, fluor: null, symmetry: null }
      const spread = { ct: index, pc: 0, d: 0.1, ver: '1.0.0' }
      const data = { id: one.id, revision: one.revision, scores: { ...scores, spread } }
      return event(`scores-${one.id}`, one.scores, 'DiamondScored', data)
    }
    one.revision++
    if (chance > 0.95) {
      one.gone = true
      return event(`diamond-${one.id}`, one.revision, 'DiamondDeleted', {})
    }
    const price = chance > 0.93 ? 'not a price' : index
    return event(`diamond-${one.id}`, one.revision, 'DiamondPatched', { set: { price }, removed: [] })
  })
}

const ownerOf = ({ stream }: StoredEvent) => 1 + (Number(stream.slice(stream.indexOf('-') + 1)) % 2)

class DocumentTable {
  readonly rows = new Map<FieldValue, StoredDocument>()

  load = async (keys: readonly FieldValue[]) => keys.flatMap((key) => this.rows.get(key) ?? [])

  write(writes: readonly DocumentWrite[]): void {
    for (const write of writes) {
      assert.ok('put' in write, 'a remove is not expected')
      const key = write.put['id'] ?? ''
      const current = this.rows.get(key)
      if (current === undefined || current.revision < write.revision)
        this.rows.set(key, { document: write.put, revision: write.revision })
    }
  }
}

/** A build whose write may stop halfway, as a crash can cause on MongoDB. */
class PartialBuild implements FoldSource {
  readonly documents = new DocumentTable()
  readonly sequences = new DocumentTable()
  load = this.documents.load

  /** @param passes whether a document is written before the crash */
  write({ writes, sequences }: BatchFoldResult, passes: () => boolean = () => true): void {
    this.documents.write(writes.filter(passes))
    this.sequences.write(sequences.filter(passes))
  }

  async count(account: number, position: PositionOrStart): Promise<number> {
    const sequences = async (ids: readonly number[]) => (await this.sequences.load(ids)).map(({ document }) => document)
    return eventsUpTo((await readSequences({ sequences }, [account])).sequenceOf(account), position).count
  }
}

const numbersIn = (document: Document) => Object.fromEntries(CHANGE_NUMBERS.map((name) => [name, document[name]]))

async function foldInOneBatch(events: readonly StoredEvent[]): Promise<PartialBuild> {
  const memory = new PartialBuild()
  memory.write(await foldBatch(diamonds, memory, events, new Set()))
  return memory
}

test('are the same for any batch sizes, and after writes that stop halfway', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = seededNumbers(String(seed))
    const events = makeHistory(random, 120)
    const memory = new PartialBuild()
    const parked = new Set<string>()
    for (let from = 0; from < events.length;) {
      const to = Math.min(events.length, from + 1 + Math.floor(random() * 30))
      const batch = events.slice(from, to)
      const folded = await foldBatch(diamonds, memory, batch, parked)
      if (random() < 0.4) {
        memory.write(folded, () => random() < 0.5)
        continue
      }
      memory.write(folded)
      for (const { stream } of folded.deadLetters) parked.add(stream)
      from = to
      for (const account of [1, 2]) {
        const expected = events.slice(0, to).filter((event) => ownerOf(event) === account).length
        assert.is(await memory.count(account, at(to - 1)), expected, `seed ${seed}, account ${account}, ${to} events`)
      }
    }
    const once = await foldInOneBatch(events)
    for (const [key, { document }] of once.documents.rows) {
      const found = memory.documents.rows.get(key)?.document
      assert.equal(found && numbersIn(found), numbersIn(document), `seed ${seed}, diamond ${key}`)
      assert.is(found && isDeleted(found), isDeleted(document))
    }
    for (const [id, { document }] of once.sequences.rows) {
      const found = memory.sequences.rows.get(id)?.document
      assert.ok(found !== undefined && isSameSequence(found, document), `seed ${seed}, sequence ${id}`)
    }
  }
})

test('count the events at any position, even if later events share the batch', async () => {
  const events = makeHistory(seededNumbers('7'), 60)
  const memory = await foldInOneBatch(events)
  for (const account of [1, 2]) {
    for (let index = 0; index < events.length; index++) {
      const expected = events.slice(0, index + 1).filter((event) => ownerOf(event) === account).length
      assert.is(await memory.count(account, at(index)), expected)
    }
  }
})

test('stay the same when a projection reads old events again together with new ones', async () => {
  const events = makeHistory(seededNumbers('3'), 100)
  const memory = new PartialBuild()
  for (let from = 0; from < 80; from += 20) {
    memory.write(await foldBatch(diamonds, memory, events.slice(from, from + 20), new Set()))
  }
  memory.write(await foldBatch(diamonds, memory, events.slice(10), new Set()))
  const once = await foldInOneBatch(events)
  for (const [key, { document }] of once.documents.rows) {
    assert.equal(numbersIn(memory.documents.rows.get(key)?.document ?? {}), numbersIn(document), `diamond ${key}`)
  }
  for (const account of [1, 2]) assert.is(await memory.count(account, at(99)), await once.count(account, at(99)))
})

test('are stored with positions that parse to the same positions', () => {
  const positions: PositionOrStart[] = [
    'start',
    { commit: 0n, prepare: 0n },
    { commit: 5n, prepare: 3n },
    { commit: 2n ** 62n, prepare: 2n ** 62n },
    { commit: 2n ** 63n - 1n, prepare: 2n ** 63n - 40n },
  ]
  assert.equal(parsePositions(formatPositions(positions)), positions)
  assert.equal(parsePositions(formatPositions(positions.slice(2))), positions.slice(2))
})

/** Seeded numbers in [0, 1). */
function seededNumbers(name: string): () => number {
  const random = randomFor(`events numbered by account, ${name}`)
  return () => random.next()
}

test.run()
