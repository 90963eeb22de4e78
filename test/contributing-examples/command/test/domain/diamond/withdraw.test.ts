import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestError } from '../../../src/domain/request-error.ts'
import {
  create,
  diamondFold,
  fileLinkRevision,
  withdraw,
  type Diamond,
  type DiamondEvent,
} from '../../../src/domain/diamond/diamond.ts'

const OWNER = 7
const BORN = create(337, OWNER, { sku: 'A-1', cutShape: 2, carat: 0.73, isPublished: true, access: 2 }, 0)
const WITHDRAWN: DiamondEvent = { type: 'DiamondWithdrawn', data: { reason: 'sold' } }
const given = (...events: DiamondEvent[]): Diamond => events.reduce(diamondFold.evolve, diamondFold.initialState)
const refused = (kind: string) => (error: unknown) => error instanceof RequestError && error.kind === kind

const test = suite('a withdrawn diamond')

test('is neither published nor visible to others', () => {
  assert.equal(withdraw(given(BORN), { id: 337, owner: OWNER }, 'sold'), [WITHDRAWN])
  const diamond = given(BORN, WITHDRAWN)
  assert.ok(diamond.status === 'live')
  assert.equal([diamond.fields.isPublished, diamond.fields.access], [false, 0])
})

test('invalidates existing links', () => {
  const diamond = given(BORN, WITHDRAWN)
  assert.is(diamond.status === 'live' && fileLinkRevision(diamond), 1)
})

test('is not withdrawn twice', () => {
  assert.equal(withdraw(given(BORN, WITHDRAWN), { id: 337, owner: OWNER }, 'lost'), [])
})

test('can be withdrawn by its owner only', () => {
  assert.throws(() => withdraw(given(BORN), { id: 337, owner: 8 }, 'sold'), refused('forbidden'))
  assert.throws(() => withdraw(given(), { id: 337, owner: OWNER }, 'sold'), refused('missing'))
})

test.run()
