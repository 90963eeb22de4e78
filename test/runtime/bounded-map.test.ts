import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { BoundedMap } from '../../src/runtime/bounded-map.ts'

const test = suite('a bounded map')

/** Which of some keys it has. */
const kept = (map: BoundedMap<string, number>, keys: string) => [...keys].filter((key) => map.get(key) !== undefined)

test('lets go of what was set first, and of no more than it has to', () => {
  const map = new BoundedMap<string, number>(3)
  for (const [index, key] of [...'abcd'].entries()) map.set(key, index)
  assert.equal(kept(map, 'abcd'), ['b', 'c', 'd'])
  assert.is(map.get('d'), 3)
})

test('takes an entry that is set again for new, with its new value and without another going for it', () => {
  const map = new BoundedMap<string, number>(3)
  for (const key of 'abca') map.set(key, key === 'a' ? 7 : 0)
  assert.equal(kept(map, 'abc'), ['a', 'b', 'c'])
  map.set('d', 1)
  assert.equal(kept(map, 'abcd'), ['a', 'c', 'd'])
  assert.is(map.get('a'), 7)
})

test('is not filled by what was deleted', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  map.delete('b')
  map.set('c', 3)
  assert.equal(kept(map, 'abc'), ['a', 'c'])
})

test('may hold undefined and keys of any kind, an undefined one too', () => {
  const map = new BoundedMap<string | undefined, number>(1)
  map.set(undefined, 1)
  map.set('a', 2)
  assert.is(map.get(undefined), undefined)
  assert.is(map.get('a'), 2)
})

test.run()
