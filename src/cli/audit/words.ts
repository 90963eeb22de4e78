import type { Change, State } from '../../projections/history/changes.ts'
import type { Entry } from '../../projections/history/entry.ts'
import { table } from '../output.ts'

/** Entries for people: a line for each, and one for each further thing that changed. */
export function entriesTable(entries: readonly Entry[]): string {
  const things = new Set(entries.map(({ stream }) => stream.replace(/^scores-/, 'diamond-')))
  const placeOf = ({ stream, revision }: Entry) => (things.size > 1 ? `${stream}@${revision}` : String(revision))
  const rows = entries.flatMap((entry) => {
    const [first = '', ...more] = saidOf(entry)
    const { at, type, request } = entry
    return [[at, placeOf(entry), type, whoText(entry), request, first], ...more.map((line) => [...BLANK, line])]
  })
  return table(['when', things.size > 1 ? 'where' : 'rev', 'what', 'who', 'request', 'changes'], rows)
}

const BLANK = ['', '', '', '', '']

function saidOf({ undecoded, detail, changes }: Entry): string[] {
  if (undecoded !== undefined) return [`can not be understood: ${undecoded}`]
  return [...(detail === undefined || detail === '' ? [] : [detail]), ...changes.map(changeText)]
}

/** `ann@example.com through Stock sync via http`, `operator alice via cli` */
function whoText({ by, osUser }: Pick<Entry, 'by' | 'osUser'>): string {
  if (by === null) return 'the service'
  const who = by.account ?? (by.via === 'cli' ? `operator ${osUser ?? ''}`.trim() : 'nobody known')
  return `${who}${by.client === null ? '' : ` through ${by.client}`} via ${by.via}`
}

const changeText = ({ field, from, to }: Change) => `${field}: ${valueText(from)} -> ${valueText(to)}`

/** What differs between two times. */
export const changesTable = (changes: readonly Change[]): string =>
  changes.length === 0
    ? 'Nothing differs.'
    : table(
        ['field', 'from', 'to'],
        changes.map(({ field, from, to }) => [field, valueText(from), valueText(to)]),
      )

/** What a thing was. */
export const stateTable = (state: State): string =>
  state === null
    ? 'It was not there at that time.'
    : table(
        ['field', 'value'],
        Object.entries(state).flatMap(([field, value]) =>
          Array.isArray(value) ? value.map((one: unknown) => [field, valueText(one)]) : [[field, valueText(value)]],
        ),
      )

type Members = Readonly<Record<string, unknown>>

/** A value in words: a report by its laboratory and number, scores by their values. */
function valueText(value: unknown): string {
  if (value === null) return '-'
  if (typeof value !== 'object') return String(value)
  const members = value as Members
  if ('laboratory' in members) return `${String(members['laboratory'])} ${reportText(members)}`
  const scores = Object.entries(members).flatMap(([name, score]) => scoreText(name, score))
  return scores.length > 0 ? scores.join(', ') : JSON.stringify(value)
}

const reportText = ({ number, file, warnings }: Members) =>
  [
    number === null ? 'without a number' : String(number),
    file === null ? 'no file' : 'with its file',
    ...(Array.isArray(warnings) ? warnings.map(String) : []),
  ].join(', ')

/** The one figure of a score that stands for it. */
function scoreText(name: string, score: unknown): string[] {
  if (typeof score !== 'object' || score === null) return []
  const figure = (score as Members)['val'] ?? (score as Members)['ct'] ?? (score as Members)['n']
  return typeof figure === 'number' ? [`${name} ${figure}`] : []
}
