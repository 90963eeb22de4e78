import { format } from 'prettier'
import { catalogue, type Catalogue, type CatalogueEntry } from '../../src/events/catalogue.ts'
import { membersOf } from '../schema-members.ts'

/** docs/events.md, as the release's tables of events make it. */
export const eventsPage = (): Promise<string> => format(textOf(catalogue()), { parser: 'markdown', printWidth: 180 })

const INTRODUCTION = `# Events

All event types, their payloads and their metadata. Events are appended to a stream and never changed. \`npm run docs:events\` generates this page from the declarations in \`src/events\` and \`src/domain\`;
\`npx adamant events --schema\` prints the same with a JSON Schema (draft 2020-12) for each payload, and \`npx adamant events\` prints the events of the log.

An event has a \`stream\`, its \`revision\` in the stream (from 0), a \`position\` in the log, an \`id\` (a UUID; a repeated request has the same ids), a \`type\`, \`data\` and \`metadata\`.
Types are never renamed. A payload changes by a new version. Stored events keep their version, and every version remains readable. Readers ignore unknown members. A release that finds an unknown type, or a version of a newer
release, refuses commands on that stream and reports it (docs/operations.md, "Dead letters").

No event contains a password, a token, a secret, a passphrase, a recipient's whole address or the bytes of a file. Members marked *not shown* are hashed or encrypted, and no command prints them.
`

function textOf({ metadata, events }: Catalogue): string {
  const streams = [...new Set(events.map(({ stream }) => stream))]
  const sections = streams.map((stream) => {
    const own = events.filter((event) => event.stream === stream)
    return [`## \`${stream}\``, ...own.map(eventText)].join('\n\n')
  })
  return [INTRODUCTION, `## Metadata\n\nAll members are texts.\n\n${tableOf(metadata, [])}`, ...sections].join('\n\n')
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
