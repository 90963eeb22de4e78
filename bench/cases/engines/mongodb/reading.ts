import { STATE_FIELDS } from '../../../../src/projections/diamonds/diamond-document.ts'
import type { ReadModel } from '../../../../src/stores/ports/read-store.ts'
import type { Case } from '../../../group.ts'
import { oneByOne, overhead } from '../overhead.ts'
import { writeGuarded } from './bare.ts'
import { checkpointAt, diamondDocument, OWNER, range, writesOf } from './diamonds.ts'
import type { Both } from './writing.ts'

const THERE = 500
const BATCH = 500
const READS = 100
const PAGES = 10
const PAGE = 25

/** Also fills both sides for `pages`. */
export async function readsById({ build, bare }: Both, model: ReadModel): Promise<Case> {
  for (let from = 1, at = 1n; from <= THERE; from += BATCH, at++) {
    const ids = range(from, BATCH)
    await build.write(writesOf(ids, at), checkpointAt(at))
    await writeGuarded(bare, ids.map(diamondDocument), at)
  }
  const idOf = (read: number) => 1 + ((read * 617) % THERE)
  const ours = async (read: number) => must(await model.get(idOf(read), STATE_FIELDS))
  const projection = { _id: 0, state: 1 }
  const theirs = async (read: number) => must(await bare.documents.findOne({ _id: String(idOf(read)) }, { projection }))
  return overhead(
    `MongoDB: get one of ${THERE.toLocaleString('en')} diamonds by id`,
    oneByOne(READS, ours),
    oneByOne(READS, theirs),
  )
}

function must(found: unknown): void {
  if (found === undefined || found === null) throw new Error('a diamond was not found')
}

/** The first page of 25 and the total, for which both sides maintain counters. */
export function pages({ bare }: Both, model: ReadModel): Case {
  const where = { owner: OWNER }
  const query = {
    where,
    order: [
      ['date', 'desc'],
      ['id', 'desc'],
    ],
    limit: PAGE,
    offset: 0,
    select: STATE_FIELDS,
  } as const
  const ours = async () => whole(await model.count(where), (await model.find(query)).length)
  const options = {
    sort: { date: -1, id: -1 },
    limit: PAGE,
    batchSize: PAGE,
    projection: { _id: 0, state: 1 },
  } as const
  const theirs = async () => {
    const counter = await bare.counts.findOne({ _id: String(OWNER) })
    whole(
      (counter?.colored ?? 0) + (counter?.others ?? 0),
      (await bare.documents.find(where, options).toArray()).length,
    )
  }
  return overhead('MongoDB: first page of 25 with the total', oneByOne(PAGES, ours), oneByOne(PAGES, theirs))
}

function whole(total: number, shown: number): void {
  if (total !== THERE || shown !== PAGE) throw new Error(`${shown} of ${total} diamonds were listed`)
}
