import { STATE_FIELDS } from '../../../../src/projections/diamonds/diamond-document.ts'
import type { ReadModel } from '../../../../src/stores/ports/read-store.ts'
import type { Case } from '../../../group.ts'
import { perCall, overhead } from '../overhead.ts'
import { writeGuarded } from './bare.ts'
import { checkpointAt, diamondDocument, OWNER, range, writesOf } from './diamonds.ts'
import type { AdapterAndDriver } from './writing.ts'

const STONES = 500
const BATCH = 500
const READS = 100
const PAGES = 10
const PAGE = 25

/** Also fills both sides for `firstPage`. */
export async function readsById({ build, bare }: AdapterAndDriver, model: ReadModel): Promise<Case> {
  for (let from = 1, at = 1n; from <= STONES; from += BATCH, at++) {
    const ids = range(from, BATCH)
    await build.write(writesOf(ids, at), checkpointAt(at))
    await writeGuarded(bare, ids.map(diamondDocument), at)
  }
  const idOf = (read: number) => 1 + ((read * 617) % STONES)
  const adapterRead = async (read: number) => requireFound(await model.get(idOf(read), STATE_FIELDS))
  const projection = { _id: 0, state: 1 }
  const bareRead = async (read: number) =>
    requireFound(await bare.documents.findOne({ _id: String(idOf(read)) }, { projection }))
  return overhead(
    `MongoDB: get one of ${STONES.toLocaleString('en')} diamonds by id`,
    perCall(READS, adapterRead),
    perCall(READS, bareRead),
  )
}

function requireFound(found: unknown): void {
  if (found === undefined || found === null) throw new Error('a diamond was not found')
}

/** The first page of 25 and the total, for which both sides maintain counters. */
export function firstPage({ bare }: AdapterAndDriver, model: ReadModel): Case {
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
  const adapterRead = async () => requireFullPage(await model.count(where), (await model.find(query)).length)
  const options = {
    sort: { date: -1, id: -1 },
    limit: PAGE,
    batchSize: PAGE,
    projection: { _id: 0, state: 1 },
  } as const
  const bareRead = async () => {
    const counter = await bare.counts.findOne({ _id: String(OWNER) })
    requireFullPage(
      (counter?.colored ?? 0) + (counter?.others ?? 0),
      (await bare.documents.find(where, options).toArray()).length,
    )
  }
  return overhead('MongoDB: first page of 25 with the total', perCall(PAGES, adapterRead), perCall(PAGES, bareRead))
}

function requireFullPage(total: number, shown: number): void {
  if (total !== STONES || shown !== PAGE) throw new Error(`${shown} of ${total} diamonds were listed`)
}
