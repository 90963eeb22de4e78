import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { withTiming } from '../../src/stores/call-timing.ts'

/** A port whose adapter is a class with secrets of its own. */
class Shelf {
  #books = ['one', 'two']
  readonly isOpen = true
  count(): number {
    return this.#books.length
  }
  async find(book: string): Promise<string> {
    if (!this.#books.includes(book)) throw new Error(`there is no ${book}`)
    return book
  }
  broken(): never {
    throw new Error('broken')
  }
  name(): string {
    return `a shelf of ${this.#books.length}`
  }
  async room() {
    return { shelf: this, count: () => this.count() }
  }
}

type Given = { told: [call: string, error: unknown][]; shelf: Shelf }
const test = suite<Given>('a timed port')
test.before.each((given) => {
  given.told = []
  const calls = { count: 'itself', find: 'itself', broken: 'itself', room: { count: 'itself' } } as const
  given.shelf = withTiming(new Shelf(), calls, (call) => (seconds, error) => {
    assert.ok(seconds >= 0)
    given.told.push([call, (error as Error | undefined)?.message])
  })
})

test('answers as before: at once where it did, later where it did', async ({ shelf, told }) => {
  assert.is(shelf.count(), 2)
  assert.is(await shelf.find('one'), 'one')
  assert.equal(told, [
    ['count', undefined],
    ['find', undefined],
  ])
})

test('fails as before, and tells with what', async ({ shelf, told }) => {
  assert.throws(() => shelf.broken(), 'broken')
  await shelf.find('three').then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'there is no three'),
  )
  assert.equal(told, [
    ['broken', 'broken'],
    ['find', 'there is no three'],
  ])
})

test('times what its answers are asked, where that is wanted', async ({ shelf, told }) => {
  const room = await shelf.room()
  assert.is(room.count(), 2)
  assert.equal(told, [['count', undefined]])
})

test('says nothing of what is not wanted', ({ shelf, told }) => {
  assert.is(shelf.name(), 'a shelf of 2')
  assert.ok(shelf.isOpen)
  assert.equal(told, [])
})

test('can be spread, as those do who put something around it', ({ shelf, told }) => {
  const spread = {
    ...withTiming({ count: () => 3 }, { count: 'itself' }, (call) => () => told.push([call, undefined])),
  }
  assert.is(spread.count(), 3)
  assert.equal(told, [['count', undefined]])
  assert.is(shelf.count(), 2)
})

test.run()
