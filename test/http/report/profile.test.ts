import { diamondFold, type LiveDiamond } from '../../../src/domain/diamond/diamond.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReportReading } from '../../../src/domain/certification/certification.ts'
import { profileOf } from '../../../src/http/report/profile.ts'
import { nothingRead } from '../../fixtures/reports/layouts.ts'

const test = suite("a stone's profile drawing")

function liveStone(cutShape: number | string): LiveDiamond {
  const set = { sku: 'A', cutShape, carat: 1 }
  const diamond = diamondFold.evolve(diamondFold.initialState, {
    type: 'DiamondCreated',
    data: { id: 1, owner: 7, date: 0, set },
  })
  assert.is(diamond.status, 'live')
  return diamond as LiveDiamond
}

/** A stone with a report that has these values. */
function stoneWithReport(cutShape: string, values: Partial<ReportReading>): LiveDiamond {
  const certification = { id: 3, laboratory: 'GIA', number: null, file: null } as const
  return { ...liveStone(cutShape), certifications: [{ ...certification, reading: { ...nothingRead, ...values } }] }
}

const cornersOf = (cutShape: number | string) =>
  cornersIn(profileOf(liveStone(cutShape), { measured: { depth: 60 }, stated: {} }).html)

/** The corners of the stone; x grows to the right and y downwards. */
function cornersIn(drawn: string): (readonly [number, number])[] {
  const path = /class="stone" d="M([^Z"]*)Z"/.exec(drawn)?.[1] ?? ''
  return path.split('L').map((corner) => {
    const [x = NaN, y = NaN] = corner.split(' ').map(Number)
    return [x, y]
  })
}

const lowest = (corners: readonly (readonly [number, number])[]) => {
  const end = Math.max(...corners.map(([, y]) => y))
  return corners.filter(([, y]) => y === end).map(([x]) => x)
}
const widthOf = (xs: readonly number[]) => Math.max(...xs) - Math.min(...xs)

test('has a point at the bottom and a table at the top', () => {
  const corners = cornersOf(2)
  assert.is(widthOf(lowest(corners)), 0)
  const top = Math.min(...corners.map(([, y]) => y))
  assert.ok(widthOf(corners.filter(([, y]) => y === top).map(([x]) => x)) > 100)
})

test('of a rose cut has a base as wide as the stone and a point at the top', () => {
  const corners = cornersOf('Rose cut')
  assert.is(widthOf(lowest(corners)), widthOf(corners.map(([x]) => x)))
  const top = Math.min(...corners.map(([, y]) => y))
  assert.is(corners.filter(([, y]) => y === top).length, 1)
})

test('of a briolette has a point at both ends, the measured length, and neither table nor girdle', () => {
  const size = { length: 8.4, width: 4.2, depth: 4.2 }
  const values = { table: 57, crownAngle: 34, girdle: 3 }
  const stone = stoneWithReport('Briolette', { ...values, measurements: size })
  const drawn = profileOf(stone, { measured: { ...values, size }, stated: {} }).html
  const corners = cornersIn(drawn)
  const ys = corners.map(([, y]) => y)
  const [top, end] = [Math.min(...ys), Math.max(...ys)]
  assert.is(widthOf(corners.filter(([, y]) => y === top).map(([x]) => x)), 0)
  assert.is(widthOf(lowest(corners)), 0)
  const width = widthOf(corners.map(([x]) => x))
  assert.is((end - top) / width, 2)
  const widest = corners.filter(([x]) => x === Math.max(...corners.map(([x]) => x))).map(([, y]) => y)
  assert.ok(widest.every((y) => (y - top) / (end - top) > 0.55))
  assert.not.ok(drawn.includes('class="line"') || drawn.includes('>table') || drawn.includes('>crown'), drawn)
  assert.ok(drawn.includes('8.40 × 4.20 × 4.20 mm'), drawn)
})

test('is empty for a shape without a model', () =>
  assert.is(profileOf(liveStone('Kite'), { measured: { depth: 60 }, stated: {} }).html, ''))

test.run()
