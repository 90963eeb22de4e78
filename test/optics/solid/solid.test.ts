import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { grades, modelledShapes } from '../../../src/optics/cut/cut.ts'
import { dot, facetAngle, type Facet, type Vector } from '../../../src/optics/solid/facet.ts'
import { solidOf } from '../../../src/optics/solid/solid.ts'
import { facetModels } from '../../../src/optics/cut/facets.ts'
import { nominal, proportionsOf, unpublishedProportions } from '../../../src/optics/cut/proportions.ts'
import { solidOfCut } from '../../../src/optics/cut/trace-cut.ts'
import { isClose, nominalCut, roundOf } from '../cuts.ts'

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
  assert.ok(isClose(solid.volume, 8, 1e-12) && isClose(solid.faceUpArea, 2, 1e-12))
  assert.equal([solid.width, solid.length, solid.depth], [1, 2, 4])
})

test('omits a half-space that does not touch it', () => {
  const { facets } = box(0.5, 0.5, 0.5)
  assert.is(solidOf([...facets, plane([0, 0, 1], 3)]).facets.length, 6)
})

test('has the depths that the GIA publishes for its weight-ratio reference', () => {
  const solid = roundOf({ table: 57, crown: 34, pavilion: 40.7, girdle: 2.5, lower: 80, culet: 0 })
  const heights = (part: string) =>
    solid.faces.filter(({ facet }) => facet.part === part).flatMap(({ corners }) => corners.map(([, , z]) => z))
  assert.ok(isClose(Math.max(...heights('crown')) - 0.0125, 0.145, 0.0002))
  assert.ok(isClose(-0.0125 - Math.min(...heights('pavilion')), 0.43, 0.0002))
  assert.ok(isClose(solid.depth, 0.6, 0.0002))
})

for (const [pavilion, lower] of [
  [41.15, 42.24],
  [41.25, 42.34],
] as const)
  test(`has lower halves at ${lower} degrees with mains at ${pavilion}`, () => {
    const solid = roundOf({ table: 56, crown: 35, pavilion, lower: 80 })
    const angles = solid.faces.filter(({ facet }) => facet.name === 'lower').map(({ facet }) => facetAngle(facet))
    assert.is(angles.length, 16)
    assert.ok(angles.every((angle) => isClose(angle, lower, 0.01)))
  })

test('of the round brilliant has 57 facets, a culet and its girdle', () => {
  const { facets } = roundOf({ table: 56, crown: 34, pavilion: 40.5 })
  assert.is(facets.filter(({ part }) => part !== 'girdle').length, 58)
})

for (const shape of ['Round', 'Oval', 'Marquise', 'Pear', 'CushionBrilliant', 'CushionModified'] as const)
  for (const grade of grades)
    test(`of a ${shape} graded ${grade} has eight bezels, eight mains and all their halves and stars`, () => {
      const { facets } = solidOf(facetModels[shape](proportionsOf(nominalCut(shape, grade))))
      const count = (name: string) => facets.filter((facet) => facet.name === name).length
      assert.equal(['bezel', 'star', 'upper', 'main', 'lower'].map(count), [8, 8, 16, 8, 16])
    })

for (const grade of grades) {
  test(`of a trillion graded ${grade} has the 44 published facets: 25 on the crown, 18 and a culet on the pavilion`, () => {
    const { facets } = solidOf(facetModels.Trillion({ ...proportionsOf(nominalCut('Trillion', grade)), culet: 0.02 }))
    const count = (name: string) => facets.filter((facet) => facet.name === name).length
    assert.equal(['table', 'bezel', 'star', 'upper', 'main', 'lower', 'culet'].map(count), [1, 6, 6, 12, 6, 12, 1])
  })

  test(`of a rose graded ${grade} has 24 triangles above a flat base with twelve sides`, () => {
    const { faces } = solidOf(facetModels.Rose(proportionsOf(nominalCut('Rose', grade))))
    const named = (name: string) => faces.filter(({ facet }) => facet.name === name)
    assert.equal(
      ['star', 'hanging', 'standing', 'girdle', 'base'].map((name) => named(name).length),
      [6, 6, 12, 12, 1],
    )
    assert.ok(faces.filter(({ facet }) => facet.part === 'crown').every(({ corners }) => distinct(corners) === 3))
    assert.is(distinct(named('base')[0]?.corners ?? []), 12)
  })

  test(`of a briolette graded ${grade} has 84 triangles, and neither a table nor a base`, () => {
    const solid = solidOf(facetModels.Briolette(proportionsOf(nominalCut('Briolette', grade))))
    assert.is(solid.faces.length, 84)
    assert.ok(solid.faces.every(({ corners }) => distinct(corners) === 3))
    assert.ok(solid.facets.every(({ normal }) => Math.abs(normal[2]) < 0.999))
    const count = (part: string) => solid.facets.filter((facet) => facet.part === part).length
    assert.is(count('crown'), count('pavilion'))
    assert.ok(isClose(solid.depth, nominal.Briolette.rows[grade][0] / 100, 1e-9), `depth ${solid.depth}`)
  })
}

for (const lengthToWidth of [0.7, 1, 1.7, 2.5, 4])
  test(`of a briolette with a length to width ratio of ${lengthToWidth} has 84 triangles and that ratio`, () => {
    const solid = solidOf(
      facetModels.Briolette({ ...proportionsOf(nominalCut('Briolette', 'Typical')), lengthToWidth }),
    )
    assert.is(solid.faces.length, 84)
    assert.ok(
      isClose(solid.length, lengthToWidth, 1e-9) && isClose(solid.width, 1, 1e-9) && isClose(solid.depth, 1, 1e-9),
    )
  })

test('of a briolette has its point towards positive y, and is widest nearer to the other end', () => {
  const { faces } = solidOf(facetModels.Briolette(proportionsOf(nominalCut('Briolette', 'Typical'))))
  const corners = faces.flatMap((face) => face.corners)
  const ys = corners.map(([, y]) => y)
  const [end, point] = [Math.min(...ys), Math.max(...ys)]
  const widest = corners.filter(([x]) => x > 0.5 - 1e-9).map(([, y]) => (y - end) / (point - end))
  assert.ok(widest.length > 0 && widest.every((part) => part > 0.3 && part < 0.45), `${widest}`)
})

test('of a briolette has facets at about half the angle of its point where they meet there', () => {
  const solid = solidOf(facetModels.Briolette(proportionsOf(nominalCut('Briolette', 'Typical'))))
  const point = Math.max(...solid.faces.flatMap(({ corners }) => corners.map(([, y]) => y)))
  const meeting = solid.faces.filter(({ corners }) => corners.some(([, y]) => isClose(y, point, 1e-9)))
  const leans = meeting.map(({ facet }) => (Math.asin(facet.normal[1]) * 180) / Math.PI)
  // A facet spans the last quarter of the parabola, which is steeper than its end.
  const [angle] = unpublishedProportions.Briolette.Typical
  assert.is(meeting.length, 12)
  assert.ok(
    leans.every((lean) => lean < angle && lean > angle - 10),
    `${leans}, of ${angle}`,
  )
})

/** The number of distinct corners: where several planes meet in one point, each of them adds the corner again. */
const distinct = (corners: readonly Vector[]): number =>
  corners.filter(
    (corner, index) =>
      !corners.slice(0, index).some((other) => corner.every((value, axis) => isClose(value, other[axis] ?? NaN, 1e-9))),
  ).length

for (const [shape, fold] of [
  ['Trillion', 3],
  ['Rose', 6],
] as const)
  test(`of a ${shape} is symmetric under ${fold === 3 ? 'a third' : 'a sixth'} of a turn and under reflection`, () => {
    // With this ratio of length to width, a trillion's triangle is equilateral.
    const lengthToWidth = shape === 'Trillion' ? 0.98082 : 1
    const solid = solidOf(facetModels[shape]({ ...proportionsOf(nominalCut(shape, 'Ideal')), lengthToWidth }))
    const angle = (2 * Math.PI) / fold
    const turn = ([x, y, z]: Vector): Vector => [
      x * Math.cos(angle) - y * Math.sin(angle),
      x * Math.sin(angle) + y * Math.cos(angle),
      z,
    ]
    const mirror = ([x, y, z]: Vector): Vector => [-x, y, z]
    for (const image of [turn, mirror])
      for (const { normal, offset } of solid.facets) {
        const laid = image(normal)
        const twin = solid.facets.find((other) => dot(other.normal, laid) > 1 - 1e-6)
        assert.ok(twin !== undefined && isClose(twin.offset, offset, 1e-3), `${laid}: ${twin?.offset}, ${offset}`)
      }
  })

test('of a briolette as deep as wide is symmetric under a sixth of a turn about its length and under two reflections', () => {
  const solid = solidOf(facetModels.Briolette(proportionsOf(nominalCut('Briolette', 'Typical'))))
  const [cosine, sine] = [Math.cos(Math.PI / 3), Math.sin(Math.PI / 3)]
  const turn = ([x, y, z]: Vector): Vector => [x * cosine + z * sine, y, z * cosine - x * sine]
  const mirrorX = ([x, y, z]: Vector): Vector => [-x, y, z]
  const mirrorZ = ([x, y, z]: Vector): Vector => [x, y, -z]
  for (const image of [turn, mirrorX, mirrorZ])
    for (const { normal, offset } of solid.facets) {
      const laid = image(normal)
      const twin = solid.facets.find((other) => dot(other.normal, laid) > 1 - 1e-9)
      assert.ok(twin !== undefined && isClose(twin.offset, offset, 1e-9), `${laid}: ${twin?.offset}, ${offset}`)
    }
})

test('of the reference round has a volume of 0.20848 of its diameter cubed', () => {
  assert.ok(isClose(roundOf({ table: 56, crown: 34, pavilion: 40.5 }).volume, 0.20848, 0.0001))
})

for (const shape of modelledShapes)
  test(`of the ${shape} is closed: its faces' vector areas cancel, and its corners lie on its facets`, () => {
    const { solid } = solidOfCut(nominalCut(shape, 'Good'))
    for (const axis of [0, 1, 2] as const) {
      const sum = solid.faces.reduce((total, { facet, area }) => total + facet.normal[axis] * area, 0)
      assert.ok(isClose(sum, 0, 1e-9), `axis ${axis}: ${sum}`)
    }
    const outside = solid.faces.flatMap(({ corners }) =>
      corners.filter((corner) => solid.facets.some(({ normal, offset }) => dot(normal, corner) > offset + 1e-9)),
    )
    assert.is(outside.length, 0)
  })

for (const shape of modelledShapes)
  test(`of the ${shape} has a width of 1 and a length within the nominal ratios`, () => {
    const { solid } = solidOfCut(nominalCut(shape, 'Ideal'))
    assert.ok(isClose(solid.width, 1, 0.006), `width ${solid.width}`)
    assert.ok(solid.length >= solid.width - 0.006 && solid.length < 2.1)
  })

test.run()
