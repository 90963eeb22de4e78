import { format } from 'prettier'
import { catalogue, type Catalogue, type CatalogueEntry } from '../../src/events/catalogue.ts'
import { membersOf } from '../schema-members.ts'

export const eventsPage = (): Promise<string> => format(textOf(catalogue()), { parser: 'markdown', printWidth: 180 })

const INTRODUCTION = `# Events

An event is a fact: it is appended to a stream and never changed. This page lists every event type with its payload. It is generated from the declarations in \`src/domain\` by
\`npm run docs:events\`. \`adamant events --schema\` prints the same with a JSON Schema (draft 2020-12) for each payload, \`adamant events\` prints the events of a log.

Each event has a \`stream\`, its \`revision\` there (from 0), a \`position\` in the log, an \`id\` (a UUID; the same if the same request is repeated), a \`type\`, \`data\` and \`metadata\`.
Types are never renamed. A payload is changed by adding a version. Stored events are never rewritten: the service reads all earlier versions (upcasting). Readers ignore
members that they don't know. A release that finds a type or version of a newer release makes no decision on that stream and reports an error (docs/operations.md, "Dead letters").

No event contains a password, token, secret, passphrase, unobfuscated recipient or file content. A member marked *not shown* is a hash or encrypted, and no command prints it.
`

function textOf({ metadata, events }: Catalogue): string {
  const streams = [...new Set(events.map(({ stream }) => stream))]
  const sections = streams.map((stream) => {
    const own = events.filter((event) => event.stream === stream)
    return [`## \`${stream}\``, ...own.map(eventText)].join('\n\n')
  })
  return [INTRODUCTION, `## Metadata\n\nAll values are strings.\n\n${payloadTable(metadata, [])}`, ...sections].join(
    '\n\n',
  )
}

function eventText({ type, version, about, changes, notShown, schema }: CatalogueEntry): string {
  const versions = Object.entries(changes).map(([number, change]) => `Version ${number}: ${change}`)
  const heading = version === 1 ? type : `${type} (version ${version})`
  return [`### ${heading}`, about, ...versions, payloadTable(schema, notShown)].filter(Boolean).join('\n\n')
}

function payloadTable(schema: CatalogueEntry['schema'], notShown: readonly string[]): string {
  const rows = membersOf(schema).map(({ name, type, description }) => {
    const words = notShown.includes(name) ? [description, '*not shown*'] : [description]
    return `| \`${name}\` | ${type} | ${words.filter(Boolean).join('; ')} |`
  })
  return rows.length === 0 ? 'No data.' : ['| member | type | description |', '| --- | --- | --- |', ...rows].join('\n')
}
