import type { Example } from './edits.ts'

/** CONTRIBUTING.md's worked examples, as somebody who follows its steps would write them. */
export const EXAMPLES: readonly Example[] = [
  {
    title: 'Add a field',
    edits: [
      {
        file: 'src/domain/dictionaries/milkiness.ts',
        written: `import { dictionary, type Aliases, type Entry } from './dictionary.ts'

const GRADES: readonly Entry[] = [
  { id: 1, title: 'None', short: 'N', position: 10 },
  { id: 2, title: 'Light', short: 'L', position: 20 },
]

const SPELLINGS: Aliases = { None: ['No', 'NIL'], Light: ['M1'] }

export const milkiness = dictionary('milkiness', GRADES, SPELLINGS)
`,
      },
      {
        file: 'src/domain/diamond/fields.ts',
        find: "import { culet, girdle } from '../dictionaries/girdle.ts'\n",
        becomes:
          "import { culet, girdle } from '../dictionaries/girdle.ts'\nimport { milkiness } from '../dictionaries/milkiness.ts'\n",
      },
      {
        file: 'src/domain/diamond/fields.ts',
        find: '  access: level(',
        becomes: "  milkiness: entry(milkiness, { versions: ['v4'] }),\n  access: level(",
      },
      {
        file: 'src/domain/diamond/fields.ts',
        find: 'FIELDS_VERSION = 1',
        becomes: 'FIELDS_VERSION = 2',
      },
      {
        file: 'src/representations/diamond/words.ts',
        find: '  culetSize: {',
        becomes:
          "  milkiness: { about: 'How milky it looks.', example: 'None', headings: ['Milky'], label: 'Milkiness' },\n  culetSize: {",
      },
    ],
  },
  {
    title: 'Add a command',
    edits: [
      {
        file: 'src/domain/diamond/diamond.ts',
        find: '/** Only what changes becomes an event;',
        becomes: `/** What was withdrawn is published no more. */
export function withdraw(diamond: Diamond, id: number, owner: number): DiamondPatched[] {
  return patch(diamond, id, owner, { set: { isPublished: false }, removed: [] })
}

/** Only what changes becomes an event;`,
      },
      {
        file: 'src/commands/diamonds/diamonds.ts',
        find: '  remove,\n',
        becomes: '  remove,\n  withdraw,\n',
      },
      {
        file: 'src/commands/diamonds/diamonds.ts',
        find: '/** Revisions that the caller has seen,',
        becomes: `export function withdrawDiamond(id: number, { owner }: By): DiamondChange {
  return { id, decide: (diamond) => withdraw(diamond, id, owner) }
}

/** Revisions that the caller has seen,`,
      },
      {
        file: 'src/http/diamonds/modify.ts',
        find: '  patchDiamond,\n',
        becomes: '  patchDiamond,\n  withdrawDiamond,\n',
      },
      {
        file: 'src/http/diamonds/modify.ts',
        find: 'type Asking =',
        becomes: `export const withdrawOne = endpoint({
  name: 'withdrawDiamond',
  method: 'POST',
  path: '/{version}/diamond/{id}/withdrawal',
  about: 'Publishes a diamond no more.',
  who: bearer,
  parameters: ONE,
  requestHeaders: IF_MATCH,
  family: owned,
  answers: { 204: 'It is withdrawn', ...REFUSED_ONE, ...OVERTAKEN, ...UNMATCHED },
  async run(asked, services: DiamondServices) {
    const { consistency } = await changeOne(asked, services, withdrawDiamond(idOf(asked.params), byOf(asked)))
    return noContent(consistency)
  },
})

type Asking =`,
      },
      {
        file: 'src/http/endpoints.ts',
        find: 'import { modifyDiamond, modifyDiamonds, removeDiamond, removeDiamonds }',
        becomes: 'import { modifyDiamond, modifyDiamonds, removeDiamond, removeDiamonds, withdrawOne }',
      },
      { file: 'src/http/endpoints.ts', find: '  removeDiamond,\n', becomes: '  removeDiamond,\n  withdrawOne,\n' },
    ],
  },
  {
    title: 'Add a read model',
    edits: [
      {
        file: 'src/projections/laboratories/laboratories.ts',
        written: `import type { CertificationAttached, CertificationRemoved } from '../../domain/certification/certification.ts'
import { decode } from '../../events/decode.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import { readModel } from '../engine/read-model.ts'

type Report = { readonly id: number; readonly laboratory: string }

/** How many reports of each laboratory there are. */
export const laboratories = readModel<Report>({
  name: 'laboratories',
  version: 1,
  follows: ['diamond-'],
  on: ['CertificationAttached', 'CertificationRemoved'],
  documents: { fields: { id: 'integer', laboratory: 'text' }, texts: [], indexes: [], counts: ['laboratory'] },
  keyOf: (event) => decode<CertificationAttached | CertificationRemoved>(event).data.id,
  begins: ({ type }) => type === 'CertificationAttached',
  evolve: (report, event) => (event.type === 'CertificationRemoved' ? undefined : (report ?? reportOf(event))),
  toDocument: ({ id, laboratory }) => ({ id, laboratory }),
  fromDocument: ({ id, laboratory }) => ({ id: Number(id), laboratory: String(laboratory) }),
})

function reportOf(event: StoredEvent): Report {
  const { id, laboratory } = decode<CertificationAttached>(event).data
  return { id, laboratory }
}
`,
      },
      {
        file: 'src/wiring/followers.ts',
        find: "import { secrets } from '../projections/secrets/secrets.ts'",
        becomes:
          "import { laboratories } from '../projections/laboratories/laboratories.ts'\nimport { secrets } from '../projections/secrets/secrets.ts'",
      },
      {
        file: 'src/wiring/followers.ts',
        find: 'webhooks, tree]',
        becomes: 'webhooks, tree, laboratories]',
      },
      {
        file: 'src/http/constants/constants.ts',
        find: "import { VERSION } from '../../runtime/version.ts'",
        becomes:
          "import type { ReadModels } from '../../projections/engine/followers.ts'\nimport { laboratories } from '../../projections/laboratories/laboratories.ts'\nimport { VERSION } from '../../runtime/version.ts'",
      },
      {
        file: 'src/http/constants/constants.ts',
        find: 'const constantsAnswer = cached(constants(VERSION))\n',
        becomes: '',
      },
      {
        file: 'src/http/constants/constants.ts',
        find: '  run: () => constantsAnswer,',
        becomes: `  async run(_asked, { readModels }: { readonly readModels: ReadModels }) {
    const { model } = readModels.readModel(laboratories)
    const reports = await model.count({ laboratory: 'GIA' })
    return cached({ ...constants(VERSION), reports })
  },`,
      },
    ],
  },
  {
    title: 'Add a store',
    edits: [
      {
        file: 'src/stores/memory/events.ts',
        written: `import { eventStoreOn } from '../log/event-store.ts'
import {
  comparePositions,
  passesFilter,
  WrongRevision,
  type Append,
  type EventLog,
  type EventStore,
  type Filter,
  type From,
  type Position,
  type Revision,
  type StoredEvent,
  type Subscription,
} from '../ports/event-store.ts'

/** A log that ends with its process. */
export function openMemoryEvents({ filling = false }: { readonly filling?: boolean } = {}): EventStore<From> {
  const log = new MemoryLog()
  const store: EventLog<From> = {
    atomicMany: true,
    append: async (stream, expected, events) => log.append({ stream, expected, events }),
    appendMany: async (appends) => appends.map((append) => log.append(append)),
    read: async (stream, { last } = {}) => log.stream(stream).slice(-(last ?? 0)),
    async *readAll(from, filter) {
      yield* log.behind(from, filter)
    },
    subscribe: (from, filter) => log.follow(from, filter),
    head: () => log.head,
    eventAt: async (position) => log.events.find((event) => comparePositions(event.position, position) === 0),
    close: async () => undefined,
  }
  return eventStoreOn(store, { name: 'memory', isBorn: 'at its first append', filling, fenceDelay: 0 })
}

class MemoryLog {
  readonly events: StoredEvent[] = []
  #woken = Promise.withResolvers<void>()

  get head(): From {
    return this.events.at(-1)?.position ?? 'start'
  }

  stream(name: string): StoredEvent[] {
    return this.events.filter(({ stream }) => stream === name)
  }

  behind(from: From, filter: Filter | undefined): StoredEvent[] {
    return this.events.filter((event) => comparePositions(event.position, from) > 0 && passesFilter(event, filter))
  }

  append({ stream, expected, events }: Append): Position {
    let revision: Revision = this.stream(stream).at(-1)?.revision ?? 'none'
    if (revision !== expected) throw new WrongRevision(stream, expected, revision)
    let place = BigInt(this.events.length)
    for (const event of events) {
      place++
      revision = revision === 'none' ? 0n : revision + 1n
      this.events.push({ ...event, stream, revision, position: { commit: place, prepare: place } })
    }
    this.#woken.resolve()
    this.#woken = Promise.withResolvers()
    return { commit: place, prepare: place }
  }

  follow(from: From, filter: Filter | undefined): Subscription {
    let isStopped = false
    const batches = async function* (log: MemoryLog) {
      for (let position = from; !isStopped; ) {
        const events = log.behind(position, filter)
        position = log.head
        yield { events, position, caughtUp: true }
        if (position === log.head) await log.#woken.promise
      }
    }
    return {
      stop: () => {
        isStopped = true
        this.#woken.resolve()
      },
      [Symbol.asyncIterator]: () => batches(this),
    }
  }
}
`,
      },
      {
        file: 'src/wiring/engines.ts',
        find: "  esdb: { ...eventStoreDB, example: 'esdb://HOST:PORT' },",
        becomes: `  memory: {
    name: 'memory',
    lies: 'on a server',
    isAddress: is('memory'),
    example: 'memory',
    async open(_address, given) {
      const { openMemoryEvents } = await import('../stores/memory/events.ts')
      return { store: openMemoryEvents(given), counters: () => ({}) }
    },
  },
  esdb: { ...eventStoreDB, example: 'esdb://HOST:PORT' },`,
      },
    ],
  },
]
