import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { idsFold, reserveIds } from '../../../src/domain/installation/installation.ts'

const test = suite('a block of ids')

test('starts at 1 if none was reserved before', () => {
  assert.equal(reserveIds(idsFold.initialState, 1000), { type: 'IdsReserved', data: { from: 1, to: 1000 } })
})

test('starts after the last one, whatever its size', () => {
  assert.equal(reserveIds(idsFold.evolve(undefined, reserveIds(undefined, 7)), 1).data, { from: 8, to: 8 })
})

test.run()
