import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { gradeScore, scoreGrades } from '../../../src/domain/diamond/score-grading.ts'
import { isClose } from '../../optics/cuts.ts'

const test = suite('a grade range')

test('places fire 0.73 ± 0.05 at 0.9 of Good and 8/15 of Very Good, as published', () => {
  const { ag, hr, marks } = gradeScore('fire', 0.73, 0.05)
  assert.equal(ag, ['G', 'VG'])
  assert.is(hr, 'G-VG')
  assert.ok(isClose(marks[0], 2.9, 1e-9) && isClose(marks[1], 3 + 8 / 15, 1e-9))
})

test('includes both neighbours of a boundary value', () => {
  assert.equal(gradeScore('symmetry', 8, 0).ag, ['EX', 'OU'])
  assert.is(gradeScore('fire', 1, 0).hr, 'EX-OU')
})

test('computes 0.98 - 0.05 as 0.93, the boundary between Very Good and Excellent of integral', () => {
  assert.equal(gradeScore('integral', 0.98, 0.05).ag, ['VG', 'EX', 'OU'])
})

test('is one grade if the interval lies within its segment', () => {
  assert.is(gradeScore('brightness', 0.9, 0.02).hr, 'VG')
})

test('starts with Poor at zero and has no upper limit at Outstanding', () => {
  assert.is(gradeScore('fire', 0.05, 0.1).hr, 'P')
  assert.is(gradeScore('fire', 4, 0.1).hr, 'OU')
})

test('clamps marks to the drawn scale', () => {
  assert.equal(gradeScore('fire', 4, 0.1).marks, [6, 6])
  assert.is(gradeScore('fire', 0.05, 0.1).marks[0], 0)
})

test('is contiguous, and wider for a larger error', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 2, noNaN: true }),
      fc.double({ min: 0, max: 0.5, noNaN: true }),
      (value, error) => {
        const wide = gradeScore('integral', value, error).ag
        const first = scoreGrades.indexOf(wide[0] ?? 'P')
        assert.equal(wide, scoreGrades.slice(first, first + wide.length))
        assert.ok(gradeScore('integral', value, 0).ag.every((grade) => wide.includes(grade)))
      },
    ),
  )
})

test.run()
