import type { Change, Entry, State } from '../../projections/history/entry.ts'
import { toldValue } from '../../representations/diamond/value.ts'
import { table } from '../output.ts'

/** Entries for people: a line for each, and one for each further thing that changed. */
export function entriesTable(entries: readonly Entry[]): string {
  const things = new Set(entries.map(({ stream }) => stream.replace(/^scores-/, 'diamond-')))
  const placeOf = ({ stream, revision }: Entry) => (things.size > 1 ? `${stream}@${revision}` : String(revision))
  const rows = entries.flatMap((entry) => {
    const [first = '', ...more] = saidOf(entry)
    const { at, type, request, trace } = entry
    const asked = trace === undefined ? request : `${request} (trace ${trace})`
    return [[at, placeOf(entry), type, whoText(entry), asked, first], ...more.map((line) => [...BLANK, line])]
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

const changeText = ({ field, from, to }: Change) => `${field}: ${toldValue(field, from)} -> ${toldValue(field, to)}`

/** What differs between two times. */
export const changesTable = (changes: readonly Change[]): string =>
  changes.length === 0
    ? 'Nothing differs.'
    : table(
        ['field', 'from', 'to'],
        changes.map(({ field, from, to }) => [field, toldValue(field, from), toldValue(field, to)]),
      )

/** What a thing was. */
export const stateTable = (state: State): string =>
  state === null
    ? 'It was not there at that time.'
    : table(
        ['field', 'value'],
        Object.entries(state).flatMap(([field, value]) =>
          Array.isArray(value)
            ? value.map((one: unknown) => [field, toldValue(field, one)])
            : [[field, toldValue(field, value)]],
        ),
      )
