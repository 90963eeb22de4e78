import { format } from 'prettier'
import { catalogue, type Catalogue, type CatalogueEntry } from '../../src/events/catalogue.ts'
import { membersOf } from '../schema-members.ts'

/** docs/events.md, as the release's tables of events make it. */
export const eventsPage = (): Promise<string> => format(textOf(catalogue()), { parser: 'markdown', printWidth: 180 })

const INTRODUCTION = `# Events

Everything that happens is one of these events, appended to a stream and never changed. This page is made of the tables in \`src/events\` by \`npm run docs:events\`;
\`npx adamant events --schema\` prints the same with a JSON Schema (draft 2020-12) for each payload, and \`npx adamant events\` what the log holds.

An event has a \`stream\`, its \`revision\` there (from 0), a \`position\` in the log, an \`id\` (a UUID; the same for a repeat of the same request), a \`type\`, \`data\` and \`metadata\`.
Types are never renamed. A payload changes by a new version: events are read in every version that was ever written, and stay in the log as they were written. Readers ignore members that
they don't know. A release that meets a type or a version of a newer one decides nothing on that stream and says so (docs/operations.md, "Dead letters").

In no event: a password, a token, a secret, a passphrase, a recipient's whole address, a file's bytes. What is marked *not shown* is a hash or sealed, and no command prints it.
`

function textOf({ metadata, events }: Catalogue): string {
  const streams = [...new Set(events.map(({ stream }) => stream))]
  const sections = streams.map((stream) => {
    const own = events.filter((event) => event.stream === stream)
    return [`## \`${stream}\``, ...own.map(eventText)].join('\n\n')
  })
  return [INTRODUCTION, `## Metadata\n\nTexts, all of them.\n\n${tableOf(metadata, [])}`, ...sections].join('\n\n')
}

function eventText({ type, version, about, changes, notShown, schema }: CatalogueEntry): string {
  const versions = Object.entries(changes).map(([number, what]) => `Version ${number}: ${what}`)
  const heading = version === 1 ? type : `${type} (version ${version})`
  return [`### ${heading}`, about, ...versions, tableOf(schema, notShown)].filter(Boolean).join('\n\n')
}

function tableOf(schema: CatalogueEntry['schema'], notShown: readonly string[]): string {
  const rows = membersOf(schema).map(({ name, type, about }) => {
    const words = notShown.includes(name) ? [about, '*not shown*'] : [about]
    return `| \`${name}\` | ${type} | ${words.filter(Boolean).join('; ')} |`
  })
  return rows.length === 0 ? 'No data.' : ['| member | type | what it is |', '| --- | --- | --- |', ...rows].join('\n')
}
