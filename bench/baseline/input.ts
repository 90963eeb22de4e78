import { DEFAULTS, type DiamondFields } from './fields.ts'
import { parseEntry } from './dictionaries.ts'

export class Invalid extends Error {
  override readonly name = 'Invalid'
  constructor(readonly faults: readonly { pointer: string; message: string }[]) {
    super(faults.map((fault) => fault.message).join('; '))
  }
}

const ASSIGNED = new Set(['id', 'date', 'certifications', 'scores', '_links'])
type Reader = (value: unknown) => { value: unknown } | { problem: string }
const number =
  (min: number, max: number): Reader =>
  (value) =>
    typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max
      ? { value }
      : { problem: `must be a number from ${min} to ${max}` }
const flag: Reader = (value) => (typeof value === 'boolean' ? { value } : { problem: 'must be true or false' })
const text =
  (max: number): Reader =>
  (value) =>
    typeof value === 'string' && value.length > 0 && value.length <= max
      ? { value }
      : { problem: `must be a text of 1 to ${max} characters` }
const entry =
  (dictionary: string): Reader =>
  (value) => {
    const id = typeof value === 'string' ? parseEntry(dictionary, value) : undefined
    return id === undefined ? { problem: `must be an entry of the dictionary ${dictionary}` } : { value: id }
  }
const READERS = new Map<string, Reader>([
  ['sku', text(128)],
  ['price', number(0, Infinity)],
  ['isColored', flag],
  ['isLabGrown', flag],
  ['carat', number(0, 10000)],
  ...[
    'cutShape',
    'clarity',
    'color',
    'cutQuality',
    'polish',
    'symmetry',
    'fluorIntensity',
    'fluorColor',
    'fancyGrade',
    'colorHue',
    'colorModifier',
  ].map((name): [string, Reader] => [name, entry(name)]),
  ['culetSize', text(20)],
  ['girdle', text(40)],
  ['access', number(0, 2)],
  ['dataAccess', number(0, 2)],
])

export function readFields(input: unknown, at: string): Partial<DiamondFields> {
  if (typeof input !== 'object' || input === null)
    throw new Invalid([{ pointer: at, message: 'a diamond is an object' }])
  const faults: { pointer: string; message: string }[] = []
  const set: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(input)) {
    const reader = READERS.get(name)
    if (reader === undefined) {
      if (!ASSIGNED.has(name)) faults.push({ pointer: `${at}/${name}`, message: `${name} is no field of a diamond` })
    } else if (value === null) {
      if (name in DEFAULTS) set[name] = DEFAULTS[name as keyof typeof DEFAULTS]
    } else {
      const result = reader(value)
      if ('problem' in result) faults.push({ pointer: `${at}/${name}`, message: `${name} ${result.problem}` })
      else set[name] = result.value
    }
  }
  if (faults.length > 0) throw new Invalid(faults)
  return set
}

export function readNew(input: unknown, at: string): DiamondFields {
  const set = readFields(input, at)
  const { sku, cutShape, carat } = set
  if (sku === undefined || cutShape === undefined || carat === undefined)
    throw new Invalid([{ pointer: at, message: 'sku, cutShape and carat are required' }])
  return { ...DEFAULTS, ...set, sku, cutShape, carat }
}
