import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isLabGrownReportNumber, normaliseReportNumber } from '../../../src/domain/certification/lab-grown.ts'

const test = suite('report numbers')

const SPELLINGS = {
  '700112233': ['LG700112233', 'lg 700112233', 'IGI LG700112233', 'IGI-LG-7001-12233', '7001 12233', 'IGI 700112233'],
  '6201947735': ['GIA 6201947735', '6201 947 735', 'GIA6201947735', 'gia# 6201-947-735'],
  '104072834012': ['AGS-104072834012', 'AGSL 104072834012'],
  AB123: ['ab-123', 'AB 123'],
}

test('are equal without the name of the laboratory, LG, blanks and dashes', () => {
  for (const [number, spellings] of Object.entries(SPELLINGS))
    for (const spelling of spellings) assert.is(normaliseReportNumber(spelling), number, spelling)
})

test('with other digits or other letters differ', () => {
  const numbers = ['700112234', '70011223', 'LGA700112233', 'GIAX700112233', '']
  for (const number of numbers) assert.is.not(normaliseReportNumber(number), '700112233', number)
})

test('with LG are those of laboratory-grown diamonds', () => {
  for (const number of ['LG712345678', 'IGI LG 712345678', 'gcal-lg71'])
    assert.ok(isLabGrownReportNumber(number), number)
  for (const number of ['712345678', 'GIA 6201947735', 'LGBT', 'ALG7', ''])
    assert.not(isLabGrownReportNumber(number), number)
})

test.run()
