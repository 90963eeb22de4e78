import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Certification } from '../../../src/domain/certification/certification.ts'
import { replacementOf } from '../../../src/domain/certification/stated-report.ts'

const test = suite('a report that a file states')

const certification = (id: number, number: string | null, file: Certification['file'] = null): Certification => ({
  id,
  laboratory: 'GIA',
  number,
  file,
  reading: null,
})
const PDF = { digest: '0'.repeat(64), bytes: 1, name: null }

const idsOf = (certifications: readonly Certification[], ...stated: Parameters<typeof replacementOf>[1][]) =>
  stated.map((report) => {
    const { removed, isAttached } = replacementOf(certifications, report)
    return [removed.map(({ id }) => id), isAttached]
  })

test('changes nothing if the diamond has it, in any spelling, with or without a PDF', () => {
  const report = { laboratory: 'GIA', number: 'GIA 6201-947' } as const
  assert.equal(idsOf([certification(1, '6201947')], report), [[[], false]])
  assert.equal(idsOf([certification(1, '5'), certification(2, '6201947', PDF)], report), [[[], false]])
})

test('replaces reports without a PDF, also if it states that there is none', () => {
  const certifications = [certification(1, '5'), certification(2, null), certification(3, '6', PDF)]
  assert.equal(idsOf(certifications, { laboratory: 'GIA', number: '7' }, { laboratory: 'IGI', number: '5' }, null), [
    [[1, 2], true],
    [[1, 2], true],
    [[1, 2], false],
  ])
})

test.run()
