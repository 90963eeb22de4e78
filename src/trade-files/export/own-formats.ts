import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import {
  bodyMembersOf,
  FIELDS,
  fieldsOf,
  memberNameOf,
  type DiamondFields,
  type FieldName,
} from '../../domain/diamond/fields.ts'
import { isoDate, jsonWriterOf } from '../../representations/diamond/diamond-json.ts'
import { escapeCell } from '../sheet-cell.ts'
import { csvLine, type CsvCell } from './csv-line.ts'
import { exportedReport } from './exported-report.ts'

const COLUMNS = fieldsOf('v4')

const MEMBERS = [...bodyMembersOf('v4')]

const WRITERS = new Map(COLUMNS.map((name) => [name, jsonWriterOf(FIELDS[name], 'v4')]))

export const CSV_HEADER = csvLine(['id', ...COLUMNS, 'laboratory', 'reportNumber', 'date'], escapeCell)

/** A stone with the fields of v4 and their values there, and its report. */
export function csvRow(stone: LiveDiamond): string {
  const { id, fields, date } = stone
  const cells = COLUMNS.map((name) => JSON.parse(jsonOf(name, fields)) as CsvCell)
  const { laboratory, number } = exportedReport(stone)
  return csvLine([id, ...cells, laboratory, number, isoDate(date)], escapeCell)
}

/** A stone as one line of JSON with the members of v4; of its certifications, what a new one needs. */
export function jsonLine({ id, fields, date, certifications }: LiveDiamond): string {
  const members = MEMBERS.map(([name, field]) => {
    if (typeof field === 'string') return `"${name}":${jsonOf(field, fields)}`
    const values = field.map((member) => `"${memberNameOf(member)}":${jsonOf(member, fields)}`)
    return `"${name}":${field.every((member) => fields[member] === null) ? 'null' : `{${values.join(',')}}`}`
  })
  const reports = certifications.map(({ laboratory, number }) => ({ laboratory, number }))
  return `{"id":${id},${members.join(',')},"date":"${isoDate(date)}","certifications":${JSON.stringify(reports)}}\n`
}

/** null for a value that is not set, so that an import of the file removes it. */
const jsonOf = (name: FieldName, fields: DiamondFields): string => WRITERS.get(name)?.(fields[name]) ?? 'null'
