import { randomUUID } from 'node:crypto'
import {
  changeDiamonds,
  createDiamonds,
  planDelete,
  planPatch,
  type CommandPrincipal,
} from '../../src/commands/diamonds/diamonds.ts'
import { IdAllocator } from '../../src/commands/installation/id-allocator.ts'
import { toEventMetadata } from '../../src/events/event-metadata.ts'
import { createCommandContext } from '../../src/commands/core/command-context.ts'
import { scoresStream } from '../../src/domain/diamond/diamond.ts'
import { DiamondQueries } from '../../src/projections/diamonds/diamond-queries.ts'
import type { DiamondFilter } from '../../src/projections/diamonds/list-attributes.ts'
import { diamonds } from '../../src/projections/diamonds/diamonds.ts'
import type { ConsumerRunner } from '../../src/projections/engine/runner.ts'
import { origin, consumerOf, runnerOf } from '../projections/engine/inventory-on-disk.ts'
import type { Stores } from '../open-stores.ts'
import { waitFor } from '../until.ts'
import type { Version } from './reference-model.ts'
import { parseFieldChanges, parseNewDiamond } from '../../src/representations/diamond/parse-diamond.ts'
import { PATH_LINKS, type ParseResult } from '../../src/representations/json.ts'
import { etagOf, type DiamondView } from '../../src/projections/diamonds/diamond-view.ts'
import { diamondJson } from '../../src/representations/diamond/diamond-json.ts'

type RequestBody = Readonly<Record<string, unknown>>
const scoreOf = (val: number) => ({ val, rg: val, d: 0.1, ver: '1' })
const NO_SCORES = { spread: null, fire: null, brilliance: null, fluor: null, symmetry: null }

/** The commands, the log, the projection and the queries of one process, without HTTP. */
export class RealInventory {
  /** Seconds since 1970. */
  now = 1_800_000_000
  readonly #context
  readonly #ids
  #runner: ConsumerRunner

  constructor(private readonly stores: Stores) {
    this.#context = createCommandContext(stores.store, () => this.now * 1000)
    this.#ids = new IdAllocator({ ...this.#context, kind: 'diamond', size: 100, origin })
    this.#runner = runnerOf(stores)
    this.#runner.start()
  }

  async create(version: Version, owner: number, entries: readonly RequestBody[]): Promise<number[]> {
    const parsed = entries.map((entry) => parseNewDiamond(version, entry, ''))
    const command = { owner, origin, entries: parsed.map((entry) => requireValue(entry)) }
    const { created } = await createDiamonds({ ...this.#context, diamondIds: this.#ids }, command)
    return created.map(({ data }) => data.id)
  }

  async change(version: Version, owner: number, entries: readonly (readonly [id: number, body: RequestBody])[]) {
    const principal: CommandPrincipal = { owner, origin }
    const changes = entries.map(([id, body]) =>
      planPatch(id, requireValue(parseFieldChanges(version, body, '')), principal),
    )
    await changeDiamonds(this.#context, principal, changes)
  }

  async remove(owner: number, ids: readonly number[]): Promise<void> {
    const principal: CommandPrincipal = { owner, origin }
    await changeDiamonds(
      this.#context,
      principal,
      ids.map((id) => planDelete(id, principal)),
    )
  }

  async score(id: number, revision: number, value: number): Promise<void> {
    const stream = scoresStream(id)
    const last = (await this.stores.store.readStream(stream, { last: 1 })).at(-1)
    const data = { id, revision, scores: { integral: scoreOf(value), ...NO_SCORES } }
    const event = { id: randomUUID(), type: 'DiamondScored', data, metadata: toEventMetadata(origin, this.now * 1000) }
    await this.stores.store.append(stream, last?.revision ?? 'none', [event])
  }

  /** Replaces the runner with another one, which resumes at its checkpoint. */
  async restart(): Promise<void> {
    await this.#runner.stop()
    this.#runner = runnerOf(this.stores)
    this.#runner.start()
  }

  /** Rebuilds the read model while the current one stays live. */
  async rebuild(): Promise<void> {
    await this.#runner.stop()
    this.#runner = runnerOf(this.stores)
    await consumerOf(this.stores, diamonds).rebuild()
    this.#runner.start()
  }

  async list(version: Version, owner: number, filter: DiamondFilter) {
    const { total, views, isCurrent } = await (await this.#queries()).list(owner, filter, ALL)
    if (!isCurrent) throw new Error('the list is behind')
    return { total, diamonds: views.map((view) => bodyIn(version, view)) }
  }

  async one(version: Version, id: number) {
    const { view } = await (await this.#queries()).findDiamond(id)
    return view && { owner: view.diamond.owner, etag: etagOf(view), body: bodyIn(version, view) }
  }

  async caughtUp(): Promise<boolean> {
    return waitFor(
      'the read model',
      Promise.resolve(this.#runner.progress.waitForPosition(await this.stores.store.head(), Infinity)),
    )
  }

  async stop(): Promise<void> {
    await this.#runner.stop()
  }

  async #queries(): Promise<DiamondQueries> {
    return new DiamondQueries(
      await this.stores.reads.model(diamonds.declaration),
      this.stores.store,
      this.#runner.progress,
    )
  }
}

const ALL = { limit: 1000, offset: 0 }

const bodyIn = (version: Version, view: DiamondView) =>
  JSON.parse(diamondJson(version, view, PATH_LINKS)) as Readonly<Record<string, unknown>>

function requireValue<Value>({ value, errors }: ParseResult<Value>): Value {
  if (value === undefined) throw new Error(`refused: ${JSON.stringify(errors)}`)
  return value
}
