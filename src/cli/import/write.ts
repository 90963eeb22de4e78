import { finishBulk } from '../../commands/bulk/handle-all.ts'
import { bulkStream } from '../../commands/bulk/request.ts'
import { latest } from '../../commands/core/append.ts'
import type { Writing } from '../../commands/core/handle.ts'
import { changeStock, DoneBefore } from '../../commands/diamonds/change-stock.ts'
import {
  decideAll,
  deleteDiamond,
  patchDiamond,
  type By,
  type DiamondChange,
  type Inventory,
} from '../../commands/diamonds/diamonds.ts'
import { IdBlocks } from '../../commands/installation/integer-ids.ts'
import type { RequestDone } from '../../domain/bulk/bulk.ts'
import { diamondDecider, diamondStream } from '../../domain/diamond/diamond.ts'
import type { NewDiamond } from '../../domain/diamond/fields.ts'
import { decode } from '../../events/decode.ts'
import { eventId } from '../../events/origin.ts'
import { Failed } from '../../maintenance/operation.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import { count, progressBar } from '../output.ts'
import type { StopSignal } from '../process-end.ts'
import { newDiamond, type Usable } from './findings.ts'
import type { Stock } from './inventory.ts'

/** Stones that are written together, all or none. */
export const BULK = 500

/** The record of an import's bulk, counted from 0. */
const recordOf = (id: string, bulk: number): string => bulkStream('import', id, bulk)

/** What a bulk was found to have done: the diamonds, and when (ISO 8601). */
export type DoneBulk = { readonly diamonds: readonly number[]; readonly at: string }

/** What was done under a record; one that was accepted and not done is finished first. Undefined where there is none. */
export async function doneBulk(writing: Writing, record: string): Promise<DoneBulk | undefined> {
  await finishBulk(writing, record)
  const [last] = await writing.store.read(record, { last: 1 })
  if (last?.type !== 'RequestDone') return undefined
  return { diamonds: decode<RequestDone>(last).data.diamonds, at: last.metadata['at'] ?? '' }
}

/** What an import has done, bulk by bulk. */
export async function* doneBulks(writing: Writing, id: string): AsyncGenerator<DoneBulk> {
  for (let bulk = 0; ; bulk++) {
    const done = await doneBulk(writing, recordOf(id, bulk))
    if (done === undefined) return
    yield done
  }
}

/** Where an import of new stones begins. */
export type Standing = {
  readonly id: string
  /** Bulks that an earlier run has written. */
  readonly done: number
  /** When the last of them was, ISO 8601; undefined without one. */
  readonly at: string | undefined
}

/**
 * Whether this very file was imported before, or was begun to be: the import's id is made of the account and the file, so
 * that a run that was killed is found by the next one. Where none of its stones is left, it counts no more.
 * @param digest of the file and what was read of it
 * @param bulks of the whole import
 * @param again a whole one counts no more either
 */
export async function standingOf(
  writing: Writing,
  { account, digest, bulks, again }: { account: number; digest: string; bulks: number; again: boolean },
): Promise<Standing> {
  for (let time = 1; ; time++) {
    const id = eventId(`import/${account}/${digest}/${BULK}`, time)
    let at: string | undefined
    let done = 0
    let isStanding = false
    for await (const bulk of doneBulks(writing, id)) {
      done++
      at = bulk.at
      isStanding ||= await isAnyLeft(writing, bulk.diamonds)
    }
    if (done === 0 || (isStanding && !(again && done >= bulks))) return { id, done, at }
  }
}

async function isAnyLeft({ store, states }: Writing, diamonds: readonly number[]): Promise<boolean> {
  for (const id of diamonds) {
    const { state } = await states.load(store, diamondStream(id), diamondDecider)
    if (state.status === 'live') return true
  }
  return false
}

/** What was done, or would be, in stones. */
export type Counts = {
  readonly created: number
  readonly changed: number
  readonly unchanged: number
  readonly deleted: number
}

/** One step of an import: stones that go together, as many as a bulk has or fewer. */
export type Step = {
  readonly creates: readonly NewDiamond[]
  readonly changes: readonly DiamondChange[]
  /** Whether the changes take the diamonds away. */
  readonly deletes: boolean
  /** The line of the file that it ends with. */
  readonly line?: number
}

/** The steps that make new stones of all lines. */
export async function* creating(lines: AsyncIterable<Usable>): AsyncGenerator<Step> {
  for await (const bulk of bulksOf(lines)) {
    yield { creates: bulk.map(({ change }) => newDiamond(change)), changes: [], deletes: false, ...lastOf(bulk) }
  }
}

/** The steps that make an account's stones what the lines say of their skus. */
export async function* updating(lines: AsyncIterable<Usable>, stock: Stock, by: By): AsyncGenerator<Step> {
  for await (const bulk of bulksOf(lines)) {
    const creates: NewDiamond[] = []
    const changes: DiamondChange[] = []
    for (const { change } of bulk) {
      const [id] = stock.bySku(change.set.sku ?? '')
      if (id === undefined) creates.push(newDiamond(change))
      else changes.push(patchDiamond(id, change, by))
    }
    yield { creates, changes, deletes: false, ...lastOf(bulk) }
  }
}

/** The steps that delete stones. */
export function* deleting(ids: readonly number[], by: By): Generator<Step> {
  for (let from = 0; from < ids.length; from += BULK) {
    const changes = ids.slice(from, from + BULK).map((id) => deleteDiamond(id, by))
    yield { creates: [], changes, deletes: true }
  }
}

const lastOf = (bulk: readonly Usable[]) => {
  const line = bulk.at(-1)?.line
  return line === undefined ? {} : { line }
}

async function* bulksOf(lines: AsyncIterable<Usable>): AsyncGenerator<Usable[]> {
  let bulk: Usable[] = []
  for await (const line of lines) {
    bulk.push(line)
    if (bulk.length < BULK) continue
    yield bulk
    bulk = []
  }
  if (bulk.length > 0) yield bulk
}

export type Steps = AsyncIterable<Step> | Iterable<Step>

/** What the steps would do, without doing it. */
export async function counted(installation: { readonly writing: Writing }, by: By, steps: Steps): Promise<Counts> {
  const tally = new Tally()
  for await (const step of steps) {
    const { decisions } = await decideAll(installation.writing, by, step.changes)
    const changed = decisions.filter(({ events }) => events.length > 0).length
    tally.add(step, { created: step.creates.length, changed })
  }
  return tally.counts
}

export type Writes = {
  readonly installation: { readonly writing: Writing }
  readonly by: By
  /** The import's, of which its records are made. */
  readonly id: string
  /** Steps that an earlier run has done: they are passed over. */
  readonly done: number
  /** Stones of all steps. */
  readonly total: number
  readonly signal: StopSignal
}

/** Takes the steps, one after another. @throws Failed where it was stopped, or another process does the same */
export async function written(
  { installation, by, id, done, total, signal }: Writes,
  steps: Steps,
): Promise<Counts & { readonly position: Position | undefined }> {
  const inventory = inventoryOf(installation, by)
  const tally = new Tally()
  const bar = progressBar('importing', total, 'stones')
  let position: Position | undefined
  let record = 0
  for await (const step of steps) {
    if (record < done) {
      record++
      tally.pass(step)
    } else {
      const did = await take(inventory, by, { ...step, record: recordOf(id, record) })
      if (did.position !== undefined) record++
      position = latest([position, did.position])
      tally.add(step, did)
    }
    bar.update(tally.total)
    stopWhenAsked(signal, tally, total, step)
  }
  bar.end()
  return { ...tally.counts, position }
}

export const inventoryOf = ({ writing }: { readonly writing: Writing }, { origin }: By): Inventory => {
  return { ...writing, diamondIds: new IdBlocks({ ...writing, kind: 'diamond', size: BULK, origin }) }
}

async function take(inventory: Inventory, by: By, step: Step & { readonly record: string }) {
  try {
    return await changeStock(inventory, by, step)
  } catch (error) {
    if (!(error instanceof DoneBefore)) throw error
    throw new Failed(
      'Another process imports the very same stones: nothing was done twice; run it again to see the end',
    )
  }
}

class Tally {
  #counts = { created: 0, changed: 0, unchanged: 0, deleted: 0 }

  add({ creates, changes, deletes }: Step, did: { readonly created: number; readonly changed: number }): void {
    this.#counts.created += did.created
    this.#counts[deletes ? 'deleted' : 'changed'] += did.changed
    this.#counts.unchanged += creates.length - did.created + changes.length - did.changed
  }

  /** For what an earlier run has done. */
  pass({ creates, changes }: Step): void {
    this.#counts.unchanged += creates.length + changes.length
  }

  get counts(): Counts {
    return { ...this.#counts }
  }

  get total(): number {
    const { created, changed, unchanged, deleted } = this.#counts
    return created + changed + unchanged + deleted
  }
}

/** A bulk is written whole or not at all, so that the next run goes on behind it. */
function stopWhenAsked(signal: StopSignal, tally: Tally, total: number, { line }: Step): void {
  if (!signal.came || tally.total === total) return
  const upTo = line === undefined ? '' : `, those up to line ${line}`
  throw new Failed(
    `Stopped: ${count(tally.total)} of ${count(total)} stones were written${upTo}; the same command goes on from there`,
  )
}
