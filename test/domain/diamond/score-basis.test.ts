import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReportReading } from '../../../src/domain/certification/certification.ts'
import { withDefaults, type NewDiamond } from '../../../src/domain/diamond/fields.ts'
import { scoreBasisOf } from '../../../src/domain/diamond/score-basis.ts'
import { cutQuality, symmetry } from '../../../src/domain/dictionaries/cut-grades.ts'
import { nothingRead } from '../../fixtures/reports/layouts.ts'
import { scoresOfVersion } from '../../reactions/scoring/older-scores.ts'

const test = suite('the score basis')

const basisOf = (fields: Partial<NewDiamond>, read?: Partial<ReportReading>, ver?: string) => {
  const certification = { id: 1, laboratory: 'GIA' as const, number: null, file: null }
  const reading = { ...nothingRead, ...read }
  const diamond = {
    fields: withDefaults({ sku: 'A-1', cutShape: 2, carat: 1, ...fields }),
    certifications: read === undefined ? [] : [{ ...certification, reading }],
  }
  const brilliance = { val: 1, rg: 1, d: 0.02, faceup: 1, avg: 1, ver: String(ver) }
  return scoreBasisOf(diamond, ver === undefined ? null : { ...scoresOfVersion(ver), brilliance })
}

const graded = { cutQuality: cutQuality.find('Good') ?? 0 }
const MAIN = { table: 57, depth: 61.8, crownAngle: 34.5, pavilionAngle: 40.8 }
const size = { length: 6.5, width: 6.4, depth: 3.9 }

test('is the shape, or the cut grade if there is one, or the measurements if there are any', () => {
  assert.equal(basisOf({}), { light: 'shape', spread: 'shape', symmetry: 'shape', measured: [], stated: [] })
  assert.equal(basisOf(graded), { light: 'grade', spread: 'grade', symmetry: 'grade', measured: [], stated: [] })
  const { light, spread, measured } = basisOf(graded, { table: 57, girdle: 3 })
  assert.equal([light, spread, measured], ['report', 'report', ['tablePct', 'girdlePct']])
})

test('of symmetry is a grade, even if there are measurements', () => {
  assert.is(basisOf({ symmetry: symmetry.find('Good') ?? 0 }, MAIN).symmetry, 'word')
  assert.is(basisOf(graded, MAIN).symmetry, 'grade')
})

test('excludes contradictory measurements except the size', () => {
  const { light, spread } = basisOf(graded, { ...MAIN, depth: 45, measurements: size })
  assert.equal([light, spread], ['grade', 'report'])
})

test('of scores by an older model version is what that version used', () => {
  const oldBasisOf = (read: Partial<ReportReading>) => {
    const { light, spread, measured } = basisOf(graded, read, '1.0.0+3af0ed2d')
    return [light, spread, measured.length]
  }
  assert.equal(oldBasisOf({ table: 57, measurements: size }), ['grade', 'grade', 0])
  assert.equal(oldBasisOf({ ...MAIN, girdle: 3, measurements: size }), ['report', 'report', 4])
})

test.run()
