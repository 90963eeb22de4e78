import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readReportCells } from '../../src/trade-files/report-cells.ts'

const test = suite('cells with a report')

const read = (laboratory: string, number: string) => readReportCells({ laboratory, number })

test('name one of the laboratories, in the column for it or before the number', () => {
  for (const [laboratory, number] of [
    ['GIA', '6201947735'],
    ['gia', '6201947735'],
    ['GIA (LGDR)', '6201947735'],
    ['Gemological Institute of America', '6201947735'],
    ['GIA', '6201947735.0'],
  ] as const)
    assert.equal(read(laboratory, number), { report: { laboratory: 'GIA', number: '6201947735' } }, laboratory)
  assert.equal(read('AGSL', '104-1'), { report: { laboratory: 'AGS', number: '104-1' } })
  for (const number of ['IGI LG700112', 'IGI-700112', 'IGI700112'])
    assert.equal(read('', number), { report: { laboratory: 'IGI', number } })
})

test('state no report if they are empty or say so', () => {
  for (const [laboratory, number] of [
    ['', ''],
    ['-', 'N/A'],
    ['None', ''],
    ['Non-Cert', '-'],
  ] as const)
    assert.equal(read(laboratory, number), { report: null }, laboratory)
})

test('are noted and not attached if laboratory or number are missing, unknown or spoilt', () => {
  for (const [laboratory, number, note] of [
    ['EGL', '1234', 'EGL is not one of GIA, AGS, HRD, IGI, IIDGR, GCAL'],
    ['GIA/IGI', '1234', 'GIA/IGI is not one of GIA, AGS, HRD, IGI, IIDGR, GCAL'],
    ['', '1234', 'a report number without a laboratory'],
    ['GIA', '', 'GIA without a report number'],
    ['GIA', 'https://example.com/1234', 'its number is not that of a report, such as 6201947735'],
    ['GIA', 'yes', 'its number is not that of a report, such as 6201947735'],
    ['GIA', '1'.repeat(65), 'its number is not that of a report, such as 6201947735'],
  ] as const)
    assert.equal(read(laboratory, number), { note: `no report is attached: ${note}` }, laboratory)
  assert.match(read('GIA', '6.20195E+09').note ?? '', 'a spreadsheet program shortened the number')
})

test.run()
