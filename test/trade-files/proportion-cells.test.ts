import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ProportionField } from '../../src/domain/diamond/fields.ts'
import { readProportions } from '../../src/trade-files/proportion-cells.ts'
import type { SheetCell } from '../../src/trade-files/sheet-cell.ts'

const test = suite('cells with proportions')

const readSize = (cell: SheetCell) => {
  const { values, note } = readProportions('measurements', cell)
  return [[values['proportions.length'], values['proportions.width'], values['proportions.height']], note]
}
const sizeOf = (text: string) => readSize(text)[0]
const NO_SIZE = [null, null, null]

const read = (name: ProportionField, cell: SheetCell) => {
  const { values, note } = readProportions(name, cell)
  return note === undefined ? values[name] : [values[name], note]
}

test('with measurements are read with each separator of the trade', () => {
  for (const text of [
    '6.44 x 6.41 x 3.98',
    '6.44X6.41X3.98 mm',
    '6.44*6.41*3.98',
    '6.44×6.41×3.98',
    '6.44mm x 6.41mm x 3.98mm',
    '6.44-6.41*3.98',
    '6.41 - 6.44 x 3.98',
    '6.41–6.44 x 3.98',
    '(6.41-6.44) x 3.98',
    '6,44 x 6,41 x 3,98',
    '6,44/6,41/3,98',
    '6.44, 6.41, 3.98',
    '6.44 6.41 3.98',
    '6.44 by 6.41 by 3.98',
    '6.44 \u0445 6.41 \u0445 3.98',
  ])
    assert.equal(sizeOf(text), [6.44, 6.41, 3.98], text)
  assert.equal(sizeOf('5.2 x 7.1 x 3.3'), [5.2, 7.1, 3.3])
})

test('with two measurements have no height, and a zero is unknown', () => {
  assert.equal(sizeOf('6.41-6.44'), [6.44, 6.41, null])
  assert.equal(sizeOf('6.44x6.41x0'), [6.44, 6.41, null])
  assert.equal(sizeOf('0x0x0'), [null, null, null])
})

test('with other texts than two or three lengths have no measurements', () => {
  for (const text of ['6.44', 'round', '6.44 x', '6.44 x 6.41 x 3.98 x 2', '6.44+6.41', '644000 x 6 x 3'])
    assert.equal(
      readSize(text),
      [
        NO_SIZE,
        'measurements: nothing is stored where they are not two or three numbers of millimetres, such as 6.44 x 6.41 x 3.98',
      ],
      text,
    )
  for (const cell of ['', '-', 'N/A']) assert.equal(readSize(cell), [NO_SIZE, undefined], cell)
  assert.equal(readSize({ text: '#N/A', problem: '#N/A is the error of a formula' }), [
    NO_SIZE,
    'measurements: nothing is stored, since #N/A is the error of a formula',
  ])
})

test('are numbers with or without their unit, with either decimal separator', () => {
  for (const cell of [57, '57', '57 %', '57%', '57.0', '57,0', '57 pct'])
    assert.is(read('proportions.table', cell), 57, String(cell))
  for (const cell of ['34.5°', '34,5 deg', '34.5º']) assert.is(read('proportions.crownAngle', cell), 34.5, cell)
  assert.is(read('proportions.length', '6.44mm'), 6.44)
})

test('are unknown if they are empty, zero or a placeholder', () => {
  for (const cell of ['', 0, '0', '0.00', '-', 'N/A']) assert.is(read('proportions.depth', cell), null, String(cell))
})

test('are not stored, and noted, if they are out of range or no number', () => {
  for (const cell of ['570', 12, 'VG', '57-58', '-57'])
    assert.equal(
      read('proportions.table', cell),
      [null, 'proportions.table: nothing is stored where it is not a number of at least 20 and at most 90'],
      String(cell),
    )
  assert.equal(read('proportions.table', { text: '#N/A', problem: '#N/A is the error of a formula' }), [
    null,
    'proportions.table: nothing is stored, since #N/A is the error of a formula',
  ])
})

test('in the format of percentages, which a workbook stores as fractions, are stored in percent, and noted', () => {
  assert.equal(read('proportions.depth', 0.619), [
    61.9,
    'proportions.depth: fractions are stored in percent, such as 0.619 as 61.9',
  ])
  assert.equal(read('proportions.pavilionAngle', 0.408), [
    null,
    'proportions.pavilionAngle: nothing is stored where it is not a number of at least 20 and at most 65',
  ])
})

test.run()
