import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { grades, modelledShapes } from '../../../../src/domain/scoring/cut/cut.ts'
import { facetAngle, type Facet } from '../../../../src/domain/scoring/solid/facet.ts'
import { solidOf } from '../../../../src/domain/scoring/solid/solid.ts'
import { facetModels } from '../../../../src/domain/scoring/cut/facets.ts'
import { proportionsOf } from '../../../../src/domain/scoring/cut/proportions.ts'
import { solidOfCut } from '../../../../src/domain/scoring/cut/trace-cut.ts'
import { dot, type Vector } from '../../../../src/domain/scoring/solid/vector.ts'
import { close, plain, roundOf } from '../cuts.ts'

const test = suite('a solid')

const plane = (normal: Vector, offset: number): Facet => ({ part: 'crown', name: 'side', normal, offset })
const box = (x: number, y: number, z: number) =>
  solidOf(
    [x, y, z].flatMap((half, axis) =>
      [1, -1].map((sign) => plane([axis === 0 ? sign : 0, axis === 1 ? sign : 0, axis === 2 ? sign : 0], half)),
    ),
  )

test('of six half-spaces is a box with its volume, outline and measures', () => {
  const solid = box(0.5, 1, 2)
  assert.is(solid.faces.length, 6)
  assert.ok(close(solid.volume, 8, 1e-12) && close(solid.faceUpArea, 2, 1e-12))
  assert.equal([solid.width, solid.length, solid.depth], [1, 2, 4])
})

test('leaves out a half-space that does not touch it', () => {
  const { facets } = box(0.5, 0.5, 0.5)
  assert.is(solidOf([...facets, plane([0, 0, 1], 3)]).facets.length, 6)
})

test('has the depths that the GIA prints for its weight-ratio reference', () => {
  const solid = roundOf({ table: 57, crown: 34, pavilion: 40.7, girdle: 2.5, lower: 80, culet: 0 })
  const heights = (part: string) =>
    solid.faces.filter(({ facet }) => facet.part === part).flatMap(({ corners }) => corners.map(([, , z]) => z))
  assert.ok(close(Math.max(...heights('crown')) - 0.0125, 0.145, 0.0002))
  assert.ok(close(-0.0125 - Math.min(...heights('pavilion')), 0.43, 0.0002))
  assert.ok(close(solid.depth, 0.6, 0.0002))
})

for (const [pavilion, lower] of [
  [41.15, 42.24],
  [41.25, 42.34],
] as const)
  test(`has lower halves at ${lower} degrees under mains at ${pavilion}`, () => {
    const solid = roundOf({ table: 56, crown: 35, pavilion, lower: 80 })
    const angles = solid.faces.filter(({ facet }) => facet.name === 'lower').map(({ facet }) => facetAngle(facet))
    assert.is(angles.length, 16)
    assert.ok(angles.every((angle) => close(angle, lower, 0.01)))
  })

test('of the round brilliant has 57 facets, a culet and its girdle', () => {
  const { facets } = roundOf({ table: 56, crown: 34, pavilion: 40.5 })
  assert.is(facets.filter(({ part }) => part !== 'girdle').length, 58)
})

for (const shape of ['Round', 'Oval', 'Marquise', 'Pear', 'CushionBrilliant', 'CushionModified'] as const)
  for (const grade of grades)
    test(`of a ${shape} graded ${grade} has eight bezels, eight mains and all their halves and stars`, () => {
      const { facets } = solidOf(facetModels[shape](proportionsOf(plain(shape, grade))))
      const count = (name: string) => facets.filter((facet) => facet.name === name).length
      assert.equal(['bezel', 'star', 'upper', 'main', 'lower'].map(count), [8, 8, 16, 8, 16])
    })

test('of the reference round weighs 3.67 thousandths of its diameter cubed', () => {
  assert.ok(close(roundOf({ table: 56, crown: 34, pavilion: 40.5 }).volume, 0.20848, 0.0001))
})

for (const shape of modelledShapes)
  test(`of the ${shape} is closed: its faces' vector areas cancel, and its corners lie on its facets`, () => {
    const { solid } = solidOfCut(plain(shape, 'Good'))
    for (const axis of [0, 1, 2] as const) {
      const sum = solid.faces.reduce((total, { facet, area }) => total + facet.normal[axis] * area, 0)
      assert.ok(close(sum, 0, 1e-9), `axis ${axis}: ${sum}`)
    }
    const outside = solid.faces.flatMap(({ corners }) =>
      corners.filter((corner) => solid.facets.some(({ normal, offset }) => dot(normal, corner) > offset + 1e-9)),
    )
    assert.is(outside.length, 0)
  })

for (const shape of modelledShapes)
  test(`of the ${shape} is one width wide and as long as its nominal ratio says`, () => {
    const { solid } = solidOfCut(plain(shape, 'Ideal'))
    assert.ok(close(solid.width, 1, 0.006), `width ${solid.width}`)
    assert.ok(solid.length >= solid.width - 0.006 && solid.length < 2.1)
  })

test.run()
