import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { enterStone, reflectInside } from '../../../src/optics/light/fresnel.ts'
import { DX, DY, DZ, I, newRay, type Ray } from '../../../src/optics/light/ray.ts'
import { cross, dot, scale, subtract, unit, type Vector } from '../../../src/optics/solid/facet.ts'
import { isClose } from '../cuts.ts'

const test = suite("Fresnel's equations")

const INDEX = 2.417

/** A complex number, and a field as its components along x, y and z. */
type Complex = readonly [number, number]
type Field = readonly [Complex, Complex, Complex]

const times = ([a, b]: Complex, [c, d]: Complex): Complex => [a * c - b * d, a * d + b * c]
const divide = ([a, b]: Complex, [c, d]: Complex): Complex => {
  const norm = c * c + d * d
  return [(a * c + b * d) / norm, (b * c - a * d) / norm]
}
const along = (field: Field, axis: Vector): Complex => [
  field.reduce((sum, part, index) => sum + part[0] * (axis[index] ?? 0), 0),
  field.reduce((sum, part, index) => sum + part[1] * (axis[index] ?? 0), 0),
]
const sumOf = (a: Complex, s: Vector, b: Complex, p: Vector): Field => {
  const part = (axis: 0 | 1 | 2): Complex => [a[0] * s[axis] + b[0] * p[axis], a[1] * s[axis] + b[1] * p[axis]]
  return [part(0), part(1), part(2)]
}
const energyOf = (field: Field): number => field.reduce((sum, [re, im]) => sum + re * re + im * im, 0)

/** An independent computation: reflects the amplitudes of the electric field, without Stokes parameters. */
function reflectField(field: Field, direction: Vector, normal: Vector): { field: Field; direction: Vector } {
  const cosine = dot(direction, normal)
  const square = 1 - INDEX * INDEX * (1 - cosine * cosine)
  const outside: Complex = square > 0 ? [Math.sqrt(square), 0] : [0, Math.sqrt(-square)]
  const minus = (a: number, scaleBy: number): Complex => [a - scaleBy * outside[0], -scaleBy * outside[1]]
  const plus = (a: number, scaleBy: number): Complex => [a + scaleBy * outside[0], scaleBy * outside[1]]
  const across = divide(minus(INDEX * cosine, 1), plus(INDEX * cosine, 1))
  const inPlane = divide(minus(cosine, INDEX), plus(cosine, INDEX))
  const s = unit(cross(direction, normal))
  const turned = subtract(direction, scale(normal, 2 * cosine))
  const reflected = sumOf(
    times(along(field, s), across),
    s,
    times(along(field, cross(direction, s)), inPlane),
    cross(turned, s),
  )
  return { field: reflected, direction: turned }
}

const angle = fc.double({ min: -1, max: 1, noNaN: true })
const anyNormal = fc
  .tuple(angle, angle, angle)
  .filter((vector) => dot(vector, vector) > 0.05)
  .map((vector) => unit(vector))

const into = (ray: Ray): Vector => [ray[DX] ?? 0, ray[DY] ?? 0, ray[DZ] ?? 0]

test('give the same energy for Stokes parameters as for fields of two perpendicular polarisations', () => {
  fc.assert(
    fc.property(
      fc.array(anyNormal, { minLength: 1, maxLength: 8 }),
      fc.double({ min: -0.9, max: 0.9, noNaN: true }),
      (normals, tilt) => {
        const ray = newRay()
        const start = unit([tilt, 0.3, -1])
        ray.set(start, DX)
        enterStone(ray, 0, 0, 1, INDEX)
        const cosine = -start[2]
        const inner = -(ray[DZ] ?? 0)
        const s = unit(cross(start, [0, 0, 1]))
        const inside = into(ray)
        const through = (amplitude: number) => amplitude * Math.sqrt((INDEX * inner) / cosine / 2)
        const size = [(2 * cosine) / (cosine + INDEX * inner), (2 * cosine) / (INDEX * cosine + inner)].map(through)
        let fields = [
          { field: sumOf([size[0] ?? 0, 0], s, [0, 0], s), direction: inside },
          { field: sumOf([size[1] ?? 0, 0], cross(inside, s), [0, 0], s), direction: inside },
        ]
        for (const normal of normals) {
          const towards = dot(into(ray), normal)
          if (Math.abs(towards) < 0.01 || Math.abs(towards) > 0.9999) continue
          const facing = towards < 0 ? scale(normal, -1) : normal
          reflectInside(ray, facing[0], facing[1], facing[2], INDEX)
          fields = fields.map(({ field, direction }) => reflectField(field, direction, facing))
        }
        const energy = fields.reduce((sum, { field }) => sum + energyOf(field), 0)
        assert.ok(isClose(ray[I] ?? NaN, energy, 1e-9), `${ray[I]} and ${energy}`)
      },
    ),
    { numRuns: 300 },
  )
})

test('reflect 17 percent of light at normal incidence on diamond, from both sides', () => {
  const expected = ((INDEX - 1) / (INDEX + 1)) ** 2
  const ray = newRay()
  ray.set([0, 0, -1], DX)
  assert.ok(isClose(enterStone(ray, 0, 0, 1, INDEX), expected, 1e-12))
  const before = ray[I] ?? NaN
  assert.ok(isClose(reflectInside(ray, 0, 0, -1, INDEX), before * (1 - expected), 1e-12))
})

test('reflect all light beyond the critical angle of 24.4 degrees', () => {
  const at = (degrees: number) => {
    const ray = newRay()
    ray.set([0, 0, -1], DX)
    enterStone(ray, 0, 0, 1, INDEX)
    const lean = (degrees * Math.PI) / 180
    return reflectInside(ray, Math.sin(lean), 0, -Math.cos(lean), INDEX)
  }
  assert.ok(at(24.3) > 0)
  assert.is(at(24.5), 0)
})

test.run()
