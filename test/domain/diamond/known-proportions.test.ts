import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReportReading } from '../../../src/domain/certification/certification.ts'
import { withDefaults, type NewDiamond } from '../../../src/domain/diamond/fields.ts'
import { scoreBasisOf } from '../../../src/domain/diamond/score-basis.ts'
import { proportionsOf, stoneOf } from '../../../src/domain/diamond/scored-stone.ts'
import { nothingRead } from '../../fixtures/reports/layouts.ts'
import { proportionFields } from '../../fixtures/proportions.ts'

const test = suite('the known proportions of a stone')

const diamond = (
  stated: Readonly<Record<string, number>>,
  read?: Partial<ReportReading>,
  fields: Partial<NewDiamond> = {},
) => {
  const certification = { id: 1, laboratory: 'GIA' as const, number: null, file: null }
  return {
    fields: withDefaults({ sku: 'A-1', cutShape: 2, carat: 1.01, ...fields, ...proportionFields(stated) }),
    certifications: read === undefined ? [] : [{ ...certification, reading: { ...nothingRead, ...read } }],
  }
}

const sourcesOf = (one: ReturnType<typeof diamond>) => {
  const { light, spread, measured, stated } = scoreBasisOf(one, null)
  return { light, spread, measured, stated }
}

test('come from the owner where no report has them', () => {
  const one = diamond({ table: 60, crownAngle: 34, length: 6.44, width: 6.41 }, { table: 57, depth: 61.8 })
  assert.equal(stoneOf(one).measured, { tablePct: 57, crownAngle: 34, depthPct: 61.8 })
  assert.equal(sourcesOf(one), {
    light: 'report and owner',
    spread: 'owner',
    measured: ['tablePct', 'depthPct'],
    stated: ['crownAngle'],
  })
})

test('prefer a depth by the millimetres of a report to the one that the owner states', () => {
  const size = { length: 6.44, width: 6.41, depth: 3.98 }
  const one = diamond({ depth: 60, length: 6, width: 6 }, { measurements: size })
  assert.equal(stoneOf(one).measured, { depthPct: 61.9 })
  assert.equal(stoneOf(one).face, { length: 6.44, width: 6.41 })
})

test('have angles for heights: with the table of the report, else of the owner, else of a typical stone', () => {
  const angle = (stated: Readonly<Record<string, number>>, read?: Partial<ReportReading>) =>
    stoneOf(diamond({ crownHeight: 15, ...stated }, read)).measured?.crownAngle
  assert.is(angle({}, { table: 57 }), 34.9)
  assert.is(angle({ table: 60 }, { table: 57 }), 34.9)
  assert.is(angle({ table: 60 }), 36.9)
  assert.is(angle({}), 34.9)
  assert.is(angle({ table: 57, crownAngle: 34 }), 34)
  assert.equal(stoneOf(diamond({ pavilionDepth: 43 })).measured, { pavilionAngle: 40.7 })
  assert.equal(stoneOf(diamond({ pavilionDepth: 43 }, { pavilionAngle: 41.2 })).measured, { pavilionAngle: 41.2 })
})

test('without a report are the owner alone', () => {
  const one = diamond({ table: 57, depth: 61.9 })
  assert.equal(sourcesOf(one), { light: 'owner', spread: 'owner', measured: [], stated: ['tablePct', 'depthPct'] })
})

test('that no stone can have are not used, except length and width', () => {
  const one = diamond({ depth: 50, crownAngle: 34, pavilionAngle: 41, length: 6.44, width: 6.41 })
  assert.equal(proportionsOf(one).warnings, [
    'No stone can have these proportions, since the depth leaves -7.97 % for the girdle: of these proportions only length and width are used',
  ])
  const { measured, face } = stoneOf(one)
  assert.equal([measured, face], [undefined, { length: 6.44, width: 6.41 }])
})

test('that only contradict a report give way to it', () => {
  const one = diamond({ crownAngle: 40, pavilionAngle: 45 }, { table: 57, depth: 55 })
  assert.equal(proportionsOf(one).warnings, [
    'With the measurements of its report no stone can have these proportions, since the depth leaves -13.04 % for the girdle: of these proportions only length and width are used',
  ])
  assert.equal(stoneOf(one).measured, { tablePct: 57, depthPct: 55 })
})

test("are the owner's if those of a report contradict each other", () => {
  const misread = { table: 57, depth: 50, crownAngle: 34, pavilionAngle: 41 }
  const one = diamond({ table: 58, crownAngle: 34 }, misread)
  assert.equal(stoneOf(one).measured, { tablePct: 58, crownAngle: 34 })
  assert.equal(proportionsOf(one).warnings, [])
})

test('of a briolette are three sides, stated in any order', () => {
  const briolette = diamond({ length: 4.2, width: 8.4, height: 4.2, table: 57 }, undefined, { cutShape: 'Briolette' })
  assert.equal(stoneOf(briolette).face, { length: 8.4, width: 4.2 })
  const flat = diamond({ length: 8.4, width: 4.2 }, undefined, { cutShape: 'Briolette' })
  assert.equal([stoneOf(flat).face, stoneOf(flat).measured], [undefined, undefined])
})

test.run()
