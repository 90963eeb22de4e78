import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { withTiming } from '../../src/stores/call-timing.ts'

/** An adapter with private fields, which a naive proxy could not read. */
class Shelf {
  #books = ['one', 'two']
  readonly isOpen = true
  async count(): Promise<number> {
    return this.#books.length
  }
  async find(book: string): Promise<string> {
    if (!this.#books.includes(book)) throw new Error(`there is no ${book}`)
    return book
  }
  name(): string {
    return `a shelf of ${this.#books.length}`
  }
  async room() {
    return { shelf: this, count: async () => this.count() }
  }
}

type Given = { timed: [call: string, error: unknown][]; shelf: Shelf }
const test = suite<Given>('a timed port')
test.before.each((given) => {
  given.timed = []
  const calls = { count: 'count', find: 'find', room: { count: 'count' } } as const
  given.shelf = withTiming(new Shelf(), calls, (call) => (seconds, error) => {
    assert.ok(seconds >= 0)
    given.timed.push([call, (error as Error | undefined)?.message])
  })
})

test('returns what the adapter returns', async ({ shelf, timed }) => {
  assert.is(await shelf.count(), 2)
  assert.is(await shelf.find('one'), 'one')
  assert.equal(timed, [
    ['count', undefined],
    ['find', undefined],
  ])
})

test('fails with the error of the adapter and reports it', async ({ shelf, timed }) => {
  await shelf.find('three').then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'there is no three'),
  )
  assert.equal(timed, [['find', 'there is no three']])
})

test('also times the methods of a returned object, where configured', async ({ shelf, timed }) => {
  const room = await shelf.room()
  assert.is(await room.count(), 2)
  assert.equal(timed, [['count', undefined]])
})

test('does not time methods that are not configured', ({ shelf, timed }) => {
  assert.is(shelf.name(), 'a shelf of 2')
  assert.ok(shelf.isOpen)
  assert.equal(timed, [])
})

test('can be spread into a wrapping object', async ({ shelf, timed }) => {
  const spread = {
    ...withTiming({ count: async () => 3 }, { count: 'count' }, (call) => () => timed.push([call, undefined])),
  }
  assert.is(await spread.count(), 3)
  assert.equal(timed, [['count', undefined]])
  assert.is(await shelf.count(), 2)
})

test.run()
