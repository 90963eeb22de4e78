import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  findCutShape,
  cutShapeTree,
  isShapeId,
  OTHER_SHAPE_ID,
  parseShape,
  rootShapeOf,
  shapeTitle,
  topLevelShapes,
  UnknownShape,
} from '../../../src/domain/dictionaries/shapes.ts'

/** The published table of accepted values, with CUS and RCRMB also as separate aliases. */
const ACCEPTED = [
  'Round|B|BR|RB|RD|RBC|Round Brilliant|RND',
  'Pear|P|PS|PSH|PB|PMB',
  'Emerald|E|EM|EC',
  'Princess|PRN|PR|PRIN|PN|PC|MDSQB|SMB',
  'Marquise|MQB|M|MQ',
  'Asscher|A|CSS|CSSC|AC',
  'Cushion Brilliant|CB',
  'Cushion Modified|C|CUX|CU|CMB|CUSH|CUS RCRMB|CUS|RCRMB|CRC|CSC|CX|RCSB|SCMB|SCX',
  'Heart|H|HS|HT|MHRC',
  'Oval|O|OV|OMB',
  'Radiant|R|RAD|RA|RC|RDN|CRB|RCRB',
].map((line) => line.split('|'))

const all = cutShapeTree().flatMap((shape) => [shape, ...shape.children])
const titleOf = (text: string) => {
  const id = parseShape(text)
  return id === undefined ? undefined : shapeTitle(id)
}

const test = suite('a cut shape')

test('at the top level is one of the eleven published ones, in order', () => {
  assert.equal(
    topLevelShapes().map(({ id, title }) => `${id} ${title}`),
    [
      '2 Round',
      '4 Princess',
      '9 Cushion',
      '11 Oval',
      '80 Marquise',
      '22 Pear',
      '83 Radiant',
      '90 Emerald',
      '92 Asscher',
      '85 Heart',
      '113 Other',
    ],
  )
})

test('is found by every accepted spelling, in any case', () => {
  for (const [title, ...aliases] of ACCEPTED) {
    for (const spelling of [title ?? '', ...aliases]) {
      assert.is(titleOf(spelling), title, spelling)
      assert.is(titleOf(spelling.toLowerCase()), title, spelling)
      assert.is(titleOf(spelling.toUpperCase()), title, spelling)
    }
  }
})

test('is found by its title', () => {
  for (const { id, title } of all) assert.is(parseShape(title), id)
  assert.is(parseShape('Cushion'), 9)
  assert.is(parseShape('other'), OTHER_SHAPE_ID)
})

test('shares no spelling with another', () => {
  const spellings = all.flatMap(({ id, title }) =>
    [title, ...(findCutShape(id)?.aliases ?? [])].map((text) => text.toLowerCase()),
  )
  assert.is(new Set(spellings).size, spellings.length)
})

/** Descriptions on reports of the GIA, IGI and HRD, and in trade lists. */
const DESCRIBED = {
  Round: ['Round Brilliant Cut', 'ROUND MODIFIED BRILLIANT', 'Brilliant', 'brilliant cut'],
  Pear: ['Pear Brilliant', 'Pear Modified Brilliant', 'Pear Shape', 'pear-shaped', 'Pear Cut'],
  Oval: ['Oval Brilliant', 'Oval Modified Brilliant', 'Oval Cut', 'Oval Mod. Brilliant'],
  Marquise: ['Marquise Brilliant', 'Marquise Modified Brilliant', 'MARQUISE CUT'],
  Heart: ['Heart Brilliant', 'Heart Modified Brilliant', 'Heart Shape'],
  Emerald: ['Emerald Cut', 'Emerald-Cut', 'Rectangular Emerald', 'Cut-Cornered Rectangular Step Cut'],
  'Square Emerald': ['Square Emerald Cut', 'Sq. Emerald', 'SQ EMERALD', 'Cut Cornered Square Step Cut'],
  Asscher: ['Asscher Cut', 'Square Asscher'],
  Princess: ['Princess Cut', 'Square Modified Brilliant', 'Rectangular Modified Brilliant', 'Square Princess'],
  Cushion: ['Cushion Cut', 'Square Cushion', 'Elongated Cushion'],
  'Cushion Brilliant': ['CUSHION BRILLIANT', 'Cushion Brilliant Cut'],
  'Cushion Modified': ['Cushion Modified Brilliant', 'Cushion Mod', 'Cushion Modified Brilliant Cut'],
  Radiant: ['Radiant Cut', 'Cut-Cornered Rectangular Modified Brilliant', 'Cut cornered rect. mod. brilliant'],
  'Square Radiant': ['Sq Radiant', 'Cut-Cornered Square Modified Brilliant'],
}

test("is found by a laboratory's description", () => {
  for (const [title, texts] of Object.entries(DESCRIBED))
    for (const text of texts) assert.is(titleOf(text), title, text)
})

test('of another cut is not found, even if it names a known outline', () => {
  for (const text of [
    'Oval Rose Cut',
    'Old European Brilliant',
    'Pear Portrait Cut',
    'Square',
    'Modified Brilliant',
    'Cut',
  ])
    assert.is(parseShape(text), undefined, text)
})

test('outside the dictionary is not found', () => {
  for (const text of ['', 'Trilliant', 'Old Mine', '2', 'constructor']) {
    assert.is(parseShape(text), undefined, text)
  }
})

test('at the top level is its own root', () => {
  for (const { id } of topLevelShapes()) assert.is(rootShapeOf(id), id)
})

test('below the top level has an id of at least 200 and its parent as its root', () => {
  const children = cutShapeTree().flatMap(({ id, children }) => children.map((child) => ({ root: id, ...child })))
  assert.ok(children.length > 0)
  for (const { id, root } of children) {
    assert.ok(id >= 200, `${id}`)
    assert.is(rootShapeOf(id), root)
  }
  assert.equal([rootShapeOf(200), rootShapeOf(201)], [9, 9])
})

test('has a unique id', () => {
  assert.is(new Set(all.map(({ id }) => id)).size, all.length)
  assert.ok(all.every(({ id }) => isShapeId(id)))
})

test('has a parent, aliases and children', () => {
  assert.equal(findCutShape(9), {
    id: 9,
    title: 'Cushion',
    parent: null,
    aliases: [],
    children: [
      { id: 200, title: 'Cushion Brilliant' },
      { id: 201, title: 'Cushion Modified' },
    ],
  })
  assert.equal(findCutShape(200), { id: 200, title: 'Cushion Brilliant', parent: 9, aliases: ['CB'], children: [] })
})

test('with an unknown id does not exist, including 87, whose meaning was never published', () => {
  for (const id of [0, 1, 87, 199, 204, 1.5, NaN]) {
    assert.is(findCutShape(id), undefined)
    assert.not(isShapeId(id))
    assert.throws(
      () => rootShapeOf(id),
      (error: unknown) => error instanceof UnknownShape && error.message === `there is no cut shape ${id}`,
    )
    assert.throws(
      () => shapeTitle(id),
      (error: unknown) => error instanceof UnknownShape,
    )
  }
})

test('is found or undefined for any text', () => {
  fc.assert(
    fc.property(fc.anyText({ maxLength: 64 }), (text) => {
      const id = parseShape(text)
      return id === undefined || isShapeId(rootShapeOf(id))
    }),
  )
})

test.run()
