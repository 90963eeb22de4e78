import {
  LABORATORIES,
  type Certification,
  type CertificationInput,
  type Laboratory,
} from '../domain/certification/certification.ts'
import { reportPage } from '../domain/certification/report-page.ts'
import type { Fault } from '../domain/refusal.ts'
import { comparedText } from '../domain/visible-text.ts'
import { isObject, kindOf, readText, shown, type Parsed } from './json.ts'
import { LASTS, signedLink } from './links.ts'
import { unknownMembers } from './unknown-members.ts'

/**
 * A certification's JSON text, finished but for the link in it.
 * @param revision of its stone's access, which the file's link is bound to
 * @param warnings of contradictions.ts: a member that is there only where there are any
 */
export function certificationText(
  { id, laboratory, number, file }: Omit<Certification, 'reading'>,
  revision: number,
  warnings: readonly string[] = [],
): string {
  const url = JSON.stringify(reportPage(laboratory, number))
  const link = file === null ? 'null' : `"${signedLink(filePath(id), LASTS.aDay, revision)}"`
  const warned = warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`
  return `{"id":${id},"laboratory":"${laboratory}","number":${JSON.stringify(number)},"url":${url},"file":${link}${warned}}`
}

/** Where a certification's PDF is; a signature behind it opens it. */
export const filePath = (id: number) => `/v4/certification/${id}/file`

const FIELDS = ['product', 'laboratory', 'number']

/** Assigned by the service; ignored on input, so that what was read can be sent back. */
export const ASSIGNED: ReadonlySet<string> = new Set(['id', 'url', 'file', 'warnings'])

/** Characters of a laboratory's name that are looked at. */
const NAME_READ = 100

/** Characters of a report's number at most. */
export const NUMBER_MAX = 64

/**
 * A certification to attach, from a request's JSON or from the text parts of a form. null is the same as absent.
 * @throws nothing: faults are returned, all of them
 */
export function readCertification(input: unknown): Parsed<CertificationInput> {
  if (!isObject(input)) {
    return { faults: [{ pointer: '', message: `a certification is a JSON object, got ${kindOf(input)}` }] }
  }
  const unknown = Object.keys(input).filter((name) => !FIELDS.includes(name) && !ASSIGNED.has(name))
  const faults = unknownMembers(unknown, 'a certification', [...FIELDS, 'file'], '')
  const diamond = product(input['product'], faults)
  const laboratory = laboratoryOf(input['laboratory'], faults)
  const number = numberOf(input['number'], faults)
  if (faults.length > 0 || diamond === undefined || laboratory === undefined) return { faults }
  return { value: { diamond, laboratory, number } }
}

/**
 * A form has only texts: its integer is read here, and an empty number is none.
 * @param parts the text parts of a form, by name
 */
export function fromForm(parts: ReadonlyMap<string, string>): Record<string, unknown> {
  const input: Record<string, unknown> = Object.fromEntries(parts)
  const text = parts.get('product')
  if (text !== undefined && /^\s*\d{1,16}\s*$/.test(text)) input['product'] = Number(text)
  if (parts.get('number') === '') input['number'] = null
  return input
}

/** The diamond that a request names, whatever else is wrong with it; undefined where it names none. */
export function namedDiamond(input: unknown): number | undefined {
  return isObject(input) && isDiamondId(input['product']) ? input['product'] : undefined
}

const isDiamondId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 1

function product(value: unknown, faults: Fault[]): number | undefined {
  if (isDiamondId(value)) return value
  const right = `the id of a diamond, an integer from 1 to ${Number.MAX_SAFE_INTEGER}`
  const message = isGiven(value) ? `product must be ${right}, got ${shown(value)}` : `product is required: ${right}`
  faults.push({ pointer: '/product', message })
  return undefined
}

/** In any case, as the words of dictionaries are. */
export function readLaboratory(value: unknown): Laboratory | undefined {
  const text = typeof value === 'string' ? comparedText(value.slice(0, NAME_READ)) : value
  return LABORATORIES.find((laboratory) => comparedText(laboratory) === text)
}

function laboratoryOf(value: unknown, faults: Fault[]): Laboratory | undefined {
  const found = readLaboratory(value)
  if (found !== undefined) return found
  const right = `one of ${LABORATORIES.join(', ')}`
  const message = isGiven(value)
    ? `laboratory must be ${right}, got ${shown(value)}`
    : `laboratory is required: ${right}`
  faults.push({ pointer: '/laboratory', message })
  return undefined
}

/** A report's number without the blanks around it; undefined for what is none. */
export function readNumber(value: unknown): string | undefined {
  const text = readText(value, NUMBER_MAX)
  return text !== undefined && PRINTABLE.test(text) ? text : undefined
}

function numberOf(value: unknown, faults: Fault[]): string | null {
  if (!isGiven(value)) return null
  const text = readNumber(value)
  if (text !== undefined) return text
  const message = `number must be a text of 1 to ${NUMBER_MAX} printable characters, got ${shown(value)}`
  faults.push({ pointer: '/number', message })
  return null
}

const PRINTABLE = /^[^\p{C}\p{Zl}\p{Zp}]+$/u

const isGiven = (value: unknown) => value !== undefined && value !== null
